import Glibc
import H264
import MediaTypes
import OutputLife
import OutputSettings
import Pushing
import ScreenRelayKit
import TestSupport
import Testing

@Suite("What an application draws into the pictures of a push", .enabled(if: FFmpeg.isAvailable), .serialized)
struct PushFilterTests {
    private let folder: TemporaryFolder
    private let host: ScreenRelayHost
    private let track = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
    private let pictures: [CodedFrame]

    init() throws {
        folder = try TemporaryFolder()
        host = try ScreenRelayHost(HostConfiguration())
        pictures = AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes())
    }

    /// A bright and a dark block beside each other, in the top left corner.
    private static func mark(_ picture: inout I420Picture) {
        for row in 0..<16 {
            for column in 0..<32 { picture[.luma, column, row] = column < 16 ? 235 : 16 }
        }
        for plane in [I420Picture.Plane.blueDifference, .redDifference] {
            for row in 0..<8 {
                for column in 0..<16 { picture[plane, column, row] = 128 }
            }
        }
    }

    /// For each picture of a file of 176x144 whether it has the mark.
    private func marks(in file: String) throws -> [Bool] {
        let luma = try FFmpeg.decode(file, to: "yuv420p").bytes
        let length = 176 * 144 * 3 / 2
        return stride(from: 0, to: luma.count - length + 1, by: length).map { start in
            func mean(_ columns: Range<Int>) -> Int {
                let samples = (4..<12).flatMap { row in columns.map { Int(luma[start + row * 176 + $0]) } }
                return samples.reduce(0, +) / samples.count
            }
            return mean(4..<12) > 200 && mean(20..<28) < 50
        }
    }

    @Test("a filter changes each picture of its push, and of no other with the same settings")
    func filter() throws {
        defer { host.stop() }
        #expect(host.firstTrack.publish(track))
        var settings = PushSettings()
        settings.filter = { Self.mark(&$0) }
        let marked = try host.push(to: try PushAddress("file:" + folder.file("marked.mkv")), settings: settings)
        settings.filter = nil
        settings.video = VideoSettings()
        let plain = try host.push(to: try PushAddress("file:" + folder.file("plain.mkv")), settings: settings)
        track.write(pictures[0])
        try eventually("they are connected") { marked.state == .connected && plain.state == .connected }
        for picture in pictures.dropFirst() {
            track.write(picture)
            poll(nil, 0, 20)
        }
        for push in [marked, plain] { push.stop() }
        try eventually("they have ended") { marked.state == .disconnected && plain.state == .disconnected }
        let (with, without) = (try marks(in: folder.file("marked.mkv")), try marks(in: folder.file("plain.mkv")))
        #expect(with.count > 5 && with.allSatisfy { $0 })
        #expect(without.count > 5 && !without.contains(true))
    }

    @Test("a push with a filter connects again for any change of its settings, and for the filter's end")
    func reload() throws {
        defer { host.stop() }
        #expect(host.firstTrack.publish(track))
        var settings = PushSettings()
        settings.filter = { Self.mark(&$0) }
        let told = Told()
        let address = try PushAddress("file:" + folder.file("a.mkv"))
        let push = try Push(host.firstTrack, to: address, settings: settings) { told.take($0) }
        push.start()
        var written = 0
        func eventuallyConnected(_ times: Int) throws {
            let wanted = (0..<times).flatMap { _ in [OutputState.connecting, .connected] }
            try eventually("connection \(times)") {
                track.write(pictures[written % pictures.count])
                written += 1
                poll(nil, 0, 10)
                return told.states == wanted
            }
        }
        try eventuallyConnected(1)
        // Without a filter, the connection would go on.
        settings.statusPeriod = .milliseconds(500)
        try push.reload(settings)
        try eventuallyConnected(2)
        settings.filter = nil
        try push.reload(settings)
        try eventuallyConnected(3)
    }

    @Test("a filter that changes the size ends its push with an error")
    func filterOfAnotherSize() throws {
        defer { host.stop() }
        #expect(host.firstTrack.publish(track))
        var settings = PushSettings()
        settings.filter = { picture in
            picture = I420Picture(
                size: PictureSize(width: 2, height: 2), bytes: [0, 0, 0, 0, 0, 0], isFullRange: false, matrix: .bt601,
                captureTime: nil)
        }
        let push = try host.push(to: try PushAddress("file:" + folder.file("a.mkv")), settings: settings)
        track.write(pictures[0])
        try eventually("it has failed") { push.state == .error }
        #expect(push.failure.map { "\($0)" } == "the filter makes 2x2 of pictures of 176x144")
    }
}
