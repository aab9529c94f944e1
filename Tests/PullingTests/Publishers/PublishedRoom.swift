import H264
import MediaTypes
import Processes
import RTMPServing
import RTSPServing
import SRTServing
import ScreenRelayKit
import SecureTransport
import Signalling
import TestSupport
import Testing
import Threading
import TrackHub

/// A server for publishers.
protocol PublishingServer {
    var publishers: Int { get }
    func stop()
}

/// GStreamer's programs.
enum GStreamer {
    /// Whether this element is installed.
    static func has(_ element: String) -> Bool {
        guard let child = try? ChildProcess(Launch("gst-inspect-1.0", ["--exists", element])) else { return false }
        return child.wait(within: .seconds(20)) == .exited(0)
    }
}

extension RTMPServer: PublishingServer {}
extension RTSPServer: PublishingServer {}
extension SRTServer: PublishingServer {}

/// A host without a capture, into whose room `screen` FFmpeg publishes through a server, and what the server logs.
final class PublishedRoom<Server: PublishingServer> {
    let folder: TemporaryFolder
    let host: ScreenRelayHost
    let server: Server
    let lines = LoggedLines()
    /// The presenters' token.
    let token = "presenting"

    /// Inputs of FFmpeg: moving pictures of 176x144, and a tone of 440 Hz.
    let moving = ["-f", "lavfi", "-i", "testsrc2=size=176x144:rate=25"]
    let tone = ["-f", "lavfi", "-i", "aevalsrc='0.5*sin(2*PI*440*t)':s=44100"]
    /// Encoders of FFmpeg: H.264 without B-frames and with them, and AAC.
    let h264 = ["-pix_fmt", "yuv420p", "-c:v", "libx264", "-tune", "zerolatency", "-g", "25"]
    let bFrames = ["-pix_fmt", "yuv420p", "-c:v", "libx264", "-bf", "2", "-g", "25"]
    let aac = ["-c:a", "aac", "-b:a", "128k"]

    /// - Parameters:
    ///   - password: the room's password; nil for none.
    ///   - certificate: the host's certificate, if it has one.
    ///   - start: starts the host's server at this address, with this log.
    init(
        password: String? = nil, certificate: ServerCertificate? = nil,
        _ start: (ScreenRelayHost, ListenAddress, EventLog) throws -> Server
    ) throws {
        folder = try TemporaryFolder()
        var configuration = HostConfiguration()
        configuration.token = "viewing"
        configuration.presentingToken = token
        configuration.password = password
        configuration.certificate = certificate
        host = try ScreenRelayHost(configuration)
        server = try start(host, ListenAddress(address: "127.0.0.1", port: 0), lines.log)
    }

    func stop() {
        server.stop()
        host.stop()
    }

    /// Starts FFmpeg with this input and these codecs, which publishes with the format and the address in `output`.
    func publish(_ input: [String], _ codecs: [String], to output: [String]) throws -> ChildProcess {
        let arguments = ["-hide_banner", "-nostdin", "-v", "error", "-re"] + input + codecs + output
        var launch = Launch("ffmpeg", arguments)
        launch.standardError = .text(limit: 1 << 16)
        return try ChildProcess(launch)
    }

    // MARK: Passing on

    /// The path of a file with the pictures that ``expectAllPictures(from:)`` expects.
    func movie() throws -> String {
        let raw = try folder.write("a.264", TestStreams.small.bytes())
        let file = folder.file("a.mp4")
        let made = try FFmpeg.run(["-f", "h264", "-r", "25", "-i", raw, "-c", "copy", file])
        #expect(made.status == .exited(0))
        return file
    }

    /// Expects the pictures of ``movie()``, bit for bit. Returns their places in it.
    @discardableResult
    func expectAllPictures(from reader: TrackSubscription) throws -> [Int] {
        let pictures = LoopedPictures(AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes()))
        var received: [CodedFrame] = []
        try eventually("all pictures") {
            received += reader.take().map(\.coded)
            return received.count >= pictures.round.count
        }
        let places = pictures.places(of: received)
        #expect(pictures.contains(received), "\(places)")
        #expect(lines.contain("sends H.264 of 176x144") && !lines.contain("re-encoded"))
        return places
    }

    /// Expects that FFmpeg ends by itself, and that the first track's source is gone then.
    func expectEnd(of sender: ChildProcess, within limit: Duration = .seconds(20)) throws {
        #expect(sender.wait(within: limit) == .exited(0))
        try eventually("the publisher has left") { server.publishers == 0 }
        guard case .gone = host.firstTrack.sourceState else {
            Issue.record("\(host.firstTrack.sourceState)")
            return
        }
    }

    /// Expects pictures and a tone in the track `stage`, and the track's end after `stop` has ended its only publisher.
    func expectPicturesAndTone(until stop: () -> Void) throws {
        let track = try eventually("the track") { host.track("stage", in: "screen") }
        let pictures = try DecodedPictures(track)
        var sound = try HeardSound(track)
        try eventually("the tone and pictures") {
            try sound.take()
            try pictures.take()
            return sound.isTone(from: sound.samples.count - 24_000) && pictures.count > 10
        }
        #expect(pictures.size == PictureSize(width: 176, height: 144))
        #expect(server.publishers == 1)
        stop()
        try eventually("the track's end") { host.track("stage", in: "screen") == nil }
    }

    /// Expects pictures of a publisher with B-frames, which are re-encoded.
    func expectReencoded(_ pictures: DecodedPictures) throws {
        try eventually("pictures") {
            try pictures.take()
            return pictures.count > 30
        }
        #expect(lines.contain("sends H.264 of 176x144 with B-frames, which is re-encoded"))
    }

    // MARK: Refusing and removing

    /// Expects that FFmpeg fails. Returns what it reports.
    func failure(of sender: ChildProcess) -> String {
        // FFmpeg 7 exits with other codes than 1.
        let status = sender.wait(within: .seconds(20))
        guard case .exited(let code)? = status, code != 0 else {
            Issue.record("\(String(describing: status))")
            return ""
        }
        sender.errorOutput?.waitForEnd(within: .seconds(2))
        return sender.errorOutput?.text ?? ""
    }

    /// Expects that the first track's publisher is a member of the room, and removes it.
    func expectRemoval() throws {
        let member = try eventually("the member") {
            host.rooms()?.rooms.first?.members.first { $0.kind == "publisher" }
        }
        #expect(member.tracks == ["screen"] && member.address == "127.0.0.1")
        #expect(host.removeParticipant(member.id))
        try eventually("the end") { server.publishers == 0 }
        #expect(lines.contain("has left screen/screen: it was removed from the room"))
        try eventually("an empty room") { host.rooms()?.rooms.first?.members.isEmpty == true }
        #expect(host.firstTrack.publication == nil && host.metrics.publishers.isEmpty)
    }
}
