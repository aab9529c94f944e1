import H264
import Ingest
import LinkTransport
import MediaTypes
import Opus
import Processes
import RTP
import RTSPServing
import ScreenRelayKit
import Signalling
import TestSupport
import Testing
import TrackHub

@Suite("Sound by RTSP", .serialized)
struct RTSPSoundTests {
    private let host: ScreenRelayHost
    private let track = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
    private let pictures: [CodedFrame]
    private let folder: TemporaryFolder
    private let link: LinkServer
    private let server: RTSPServer
    private let url: String
    private var path: String { folder.file("link.sock") }

    init() throws {
        var configuration = HostConfiguration()
        configuration.token = nil
        host = try ScreenRelayHost(configuration)
        folder = try TemporaryFolder()
        link = try host.firstTrack.openLink(at: .unix(path: folder.file("link.sock")))
        pictures = Array(AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes()).prefix(25))
        // Only sound that takes longer than any real one comes to these players.
        var limits = RTSPServerLimits()
        limits.soundTimeout = .seconds(60)
        server = try RTSPServer(host, at: ListenAddress(address: "127.0.0.1", port: 0), limits: limits)
        url = "rtsp://127.0.0.1:\(server.address.port)/screen"
        #expect(host.firstTrack.publish(track))
    }

    private func end() {
        link.stop()
        host.stop()
    }

    private func source() throws -> SoundSource {
        let source = try SoundSource(path)
        try eventually("the sound") { host.firstTrack.soundState == .live }
        return source
    }

    /// A moment at which the track was there, and 300 ms before now.
    private func aLittleAgo() throws -> MonotonicTime {
        let time = now()
        try eventually("300 ms") { now() - time > .milliseconds(300) }
        return time
    }

    private func packets(_ client: RTSPTestClient, channel: UInt8) throws -> [RTPPacket] {
        try client.packets.filter { $0.channel == channel }.map { try RTPPacket(parsing: $0.bytes[...]) }
    }

    private func play(_ client: RTSPTestClient, _ streams: [String]) throws -> RTSPTestClient.Answer {
        for (index, stream) in streams.enumerated() {
            // Which channels they get is up to the server: 0 and 1, 2 and 3.
            let setUp = try client.ask("SETUP \(url)/\(stream)", index + 1, "Transport: RTP/AVP/TCP;unicast")
            #expect(setUp.headers["transport"]?.contains("interleaved=\(index * 2)-\(index * 2 + 1)") == true)
        }
        return try client.ask("PLAY \(url)", streams.count + 1)
    }

    @Test("is described while the track has any, in the codec that the player or its URL asks for")
    func described() throws {
        defer { end() }
        let watcher = host.firstTrack.subscribe {}
        defer { withExtendedLifetime(watcher) {} }
        track.write(pictures[0])
        let client = try RTSPTestClient(port: server.address.port)
        #expect(try client.ask("DESCRIBE \(url)", 1).body.contains("m=audio") == false)
        let source = try source()
        defer { withExtendedLifetime(source) {} }
        let plain = try client.ask("DESCRIBE \(url)", 2).body
        #expect(
            plain.hasSuffix(
                "sprop-stereo=1\r\na=control:trackID=3\r\n"
                    + "m=audio 0 RTP/AVP 0\r\na=rtpmap:0 PCMU/8000\r\na=control:trackID=2\r\n"))
        host.mute(true)
        let answer = try client.ask("DESCRIBE \(url)", 3, "User-Agent: Lavf59.27.100")
        #expect(answer.body.contains("m=audio 0 RTP/AVP 97\r\n") && !answer.body.contains("PCMU"))
        #expect(try client.ask("DESCRIBE \(url)?audio=none", 4).body.contains("m=audio") == false)
        let asked = try client.ask("DESCRIBE \(url)?audio=opus", 5)
        #expect(asked.body.contains("opus/48000/2") && asked.headers["content-base"] == "\(url)/")
    }

    @Test("a track without a picture is described by its sound alone")
    func withoutPictures() throws {
        defer { end() }
        var limits = RTSPServerLimits()
        limits.firstPicture = .milliseconds(200)
        let server = try RTSPServer(host, at: ListenAddress(address: "127.0.0.1", port: 0), limits: limits)
        let source = try source()
        defer { withExtendedLifetime(source) {} }
        let answer = try RTSPTestClient(port: server.address.port).ask("DESCRIBE \(url)", 1)
        #expect(answer.status == 200 && !answer.body.contains("m=video") && answer.body.contains("m=audio"))
    }

    @Test("is not described alone while what is sent is held back")
    func paused() throws {
        defer { end() }
        var limits = RTSPServerLimits()
        limits.firstPicture = .milliseconds(200)
        let server = try RTSPServer(host, at: ListenAddress(address: "127.0.0.1", port: 0), limits: limits)
        let source = try source()
        defer { withExtendedLifetime(source) {} }
        host.pause()
        let client = try RTSPTestClient(port: server.address.port)
        #expect(try client.ask("DESCRIBE \(url)", 1).status == 503)
        host.resume()
        #expect(try client.ask("DESCRIBE \(url)", 2).status == 200)
    }

    @Test("alone comes as PCMU without a demand on pictures, and pictures alone make no demand on it")
    func alone() throws {
        defer { end() }
        let source = try source()
        let client = try RTSPTestClient(port: server.address.port)
        let answer = try play(client, ["trackID=2"])
        #expect(answer.headers["rtp-info"]?.hasPrefix("url=\(url)/trackID=2;seq=") == true)
        #expect(host.firstTrack.listeners == 1 && host.firstTrack.viewers == 0)
        let start = try aLittleAgo()
        for index in [0, 1, 2, 3, 4, 10, 11] as [Int64] { try source.send(at: start + SoundSource.step * index) }
        // After a silence, a half of a packet that nothing completes.
        try source.send(OpusPacket.silence(frameCount: 4), at: start + SoundSource.step * 12)
        try eventually("seven packets") {
            try client.receive()
            return client.packets.count { $0.channel == 0 } == 7
        }
        let packets = try packets(client, channel: 0)
        #expect(packets.allSatisfy { $0.header.payloadType == PayloadType(0) && $0.payload.count == 160 })
        #expect(packets.map(\.header.marker) == [true, false, false, false, false, true, false])
        let first = packets[0].header
        let times = packets.map { first.timestamp.distance(to: $0.header.timestamp) }
        #expect(times == [0, 160, 320, 480, 640, 1600, 1760])
        let numbers = packets.map { first.sequenceNumber.distance(to: $0.header.sequenceNumber) }
        #expect(numbers == Array(0..<7))
        try eventually("a report") {
            try client.receive()
            return client.packets.contains { $0.channel == 1 }
        }
        #expect(Set(client.packets.map(\.channel)) == [0, 1])
        #expect(try client.ask("PAUSE \(url)", 8).status == 200)
        #expect(host.firstTrack.listeners == 0)

        let other = try RTSPTestClient(port: server.address.port)
        _ = try play(other, ["track1"])
        #expect(host.firstTrack.listeners == 0 && host.firstTrack.viewers == 1)
    }

    @Test("comes as Opus byte for byte, and its clock is that of the pictures")
    func together() throws {
        defer { end() }
        let source = try source()
        let client = try RTSPTestClient(port: server.address.port)
        let answer = try play(client, ["track1", "trackID=3"])
        #expect(host.firstTrack.listeners == 1 && host.firstTrack.viewers == 1)
        // A picture and a packet of sound of the same moment.
        let captured = try aLittleAgo()
        track.write(pictures[0].withCaptureTime(captured))
        let sent = try source.send(at: captured)
        try eventually("both, and reports") {
            try client.receive()
            return Set(client.packets.map(\.channel)) == [0, 1, 2, 3]
        }
        let (picture, sound) = (
            try #require(try packets(client, channel: 0).first), try #require(try packets(client, channel: 2).first)
        )
        #expect(Array(sound.payload) == sent && sound.header.payloadType == PayloadType(97) && sound.header.marker)

        let (ofPictures, ofSound) = (
            try ReportedClock(client, channel: 1, hertz: 90_000), try ReportedClock(client, channel: 3, hertz: 48_000)
        )
        #expect(ofPictures.report.ssrc == picture.header.ssrc && ofSound.report.ssrc == sound.header.ssrc)
        let apart = ofPictures.seconds(of: picture.header.timestamp) - ofSound.seconds(of: sound.header.timestamp)
        #expect(abs(apart) < 0.001)
        // What PLAY's answer calls the beginning is the same moment too.
        let info = try #require(answer.headers["rtp-info"]).split(separator: ",")
        try #require(info.count == 2)
        #expect(info[0].hasPrefix("url=\(url)/track1;") && info[1].hasPrefix("url=\(url)/trackID=3;"))
        let starts = info.compactMap { $0.split(separator: "=").last.flatMap { UInt32($0) } }
        try #require(starts.count == 2)
        let begun = ofPictures.seconds(of: RTPTimestamp(starts[0])) - ofSound.seconds(of: RTPTimestamp(starts[1]))
        #expect(abs(begun) < 0.001)
        #expect(try client.ask("TEARDOWN \(url)", 9).status == 200)
        #expect(host.firstTrack.listeners == 0 && host.firstTrack.viewers == 0)
    }

    @Test("FFmpeg plays a tone beside the pictures", .enabled(if: FFmpeg.isAvailable), arguments: ["tcp", "udp"])
    func ffmpeg(_ transport: String) throws {
        defer { end() }
        let watcher = host.firstTrack.subscribe {}
        defer { withExtendedLifetime(watcher) {} }
        for picture in pictures { track.write(picture) }
        let tone = try RunningTone(path)
        defer { withExtendedLifetime(tone) {} }
        try eventually("the sound") { host.firstTrack.soundState == .live }
        for (query, codec) in [("", "opus"), ("?audio=pcmu", "pcm_mulaw")] {
            #expect(try codecs(transport, query) == ["h264", codec])
            let raw = folder.file("played.264")
            let played = try FFmpeg.run([
                "-y", "-rtsp_transport", transport, "-fpsprobesize", "0", "-i", url + query, "-map", "0:v", "-c:v",
                "copy", "-frames:v", "24", "-f", "h264", raw, "-map", "0:a", "-t", "2.5", "-af", "pan=mono|c0=c0",
                "-ar", "48000", "-f", "f32le", "pipe:1",
            ])
            #expect(played.status == .exited(0), "\(played.messages)")
            let received = AccessUnitBuilder.accessUnits(inAnnexB: try fileBytes(raw))
            #expect(received.count == 24)
            let samples = played.bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
            // The 2.5 s are counted from the first picture, which is older than the first packet of sound: on a machine
            // that is busy, by more than a second.
            try #require(samples.count > 24_000)
            // The last half second has 220 periods.
            let fit = ToneFit(440, in: Array(samples.suffix(24_000)))
            #expect(fit.signalToNoise > 30 && abs(fit.amplitude - 0.5) < 0.02, "\(codec): \(fit)")
        }
        #expect(try codecs(transport, "?audio=none") == ["h264"])
        try eventually("nobody listens") { host.firstTrack.listeners == 0 }
    }

    private func codecs(_ transport: String, _ query: String) throws -> [String] {
        var launch = Launch(
            "ffprobe",
            [
                "-v", "error", "-of", "csv=p=0", "-rtsp_transport", transport, "-fpsprobesize", "0", "-show_entries",
                "stream=codec_name", url + query,
            ])
        launch.standardOutput = .text(limit: 1 << 16)
        return try ChildProcess.run(launch, within: .seconds(90)).output.split(separator: "\n").map(String.init)
    }

    @Test("a player that stops reading hears what is new when it goes on")
    func stalled() throws {
        defer { end() }
        let source = try source()
        let client = try RTSPTestClient(port: server.address.port, receiveBuffer: 64 << 10)
        _ = try play(client, ["trackID=3", "track1"])
        var time = try aLittleAgo()
        let large = pictures[0].padded(by: 250_000)
        for _ in 0..<20 {
            track.write(large)
            try source.send(at: time)
            time = time + SoundSource.step
        }
        try eventually("sound of after that") {
            if now() - time >= SoundSource.step {
                try source.send(at: time)
                time = time + SoundSource.step
            }
            try client.receive()
            let times = try packets(client, channel: 0).map(\.header.timestamp)
            // Until now there were 400 ms.
            return times.contains { times[0].distance(to: $0) >= 19_200 }
        }
        let numbers = try packets(client, channel: 0).map(\.header.sequenceNumber)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0.next == $1 })
    }

    @Test("what was captured before a mute is not for anybody after it")
    func muted() throws {
        defer { end() }
        let source = try source()
        let listener = host.firstTrack.subscribeToSound {}
        let start = try aLittleAgo()
        try source.send(at: start)
        let frame = try eventually("the packet") { listener.take().first }
        #expect(listener.shows(frame))
        host.mute(true)
        #expect(!listener.shows(frame))
        #expect(host.firstTrack.soundState == .muted)
    }
}

/// How a stream's last report relates its timestamps to the time.
private struct ReportedClock {
    let report: SenderReport
    private let hertz: Double

    init(_ client: RTSPTestClient, channel: UInt8, hertz: Double) throws {
        let bytes = try #require(client.packets.last { $0.channel == channel }?.bytes)
        guard case .senderReport(let report)? = try RTCPPacket.parse(bytes[...]).first else {
            throw DeadlineMissed(what: "a sender report")
        }
        self.report = report
        self.hertz = hertz
    }

    /// When a timestamp is, in seconds since a little before the report.
    func seconds(of timestamp: RTPTimestamp) -> Double {
        Double(report.ntpTime.rawValue % (1 << 48)) / 4_294_967_296
            + Double(report.rtpTimestamp.distance(to: timestamp)) / hertz
    }
}
