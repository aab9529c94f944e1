import Glibc
import Ingest
import Joining
import MediaTypes
import OutputLife
import Pushing
import RTSPServing
import ScreenRelayKit
import Signalling
import Synchronization
import TestSupport
import Testing
import Threading

/// A host that sends what it is fed with to all ways out.
protocol WaysHost {
    var link: String { get }
    /// The URL for RTSP players.
    var rtsp: String { get throws }
    var log: String { get }
    /// Ends it in good order.
    func end() throws
}

/// A library application, as in library.md: it writes frames and audio of its own, and sends them everywhere.
final class LibraryHost: WaysHost {
    private let host: ScreenRelayHost
    private let players: RTSPServer
    private let pushes: [Push]
    private let joins: [Join]
    private let stopRecording: () -> Void
    private let writer: Writer
    private let thread: NamedThread

    init(pushes: [String], joins: [String], recording: String) throws {
        host = try ScreenRelayHost(HostConfiguration())
        let recorded = try host.firstTrack.openLink(at: nil, recording: recording)
        stopRecording = { recorded.stop() }
        let writer = try Writer()
        try #require(host.firstTrack.publish(writer.video) && host.firstTrack.publish(writer.sound))
        self.writer = writer
        thread = try #require(NamedThread("writer") { writer.write() })
        players = try RTSPServer(host, at: ListenAddress(address: "127.0.0.1", port: 0))
        self.pushes = try pushes.map { [host] in try host.push(to: PushTarget($0)) }
        self.joins = try joins.map { [host] in try Join(host.firstTrack, into: JoinTarget($0)) }
    }

    var link: String { host.link }

    var rtsp: String {
        let token = link.split(separator: ",").last.map(String.init) ?? ""
        return "rtsp://viewer:\(token)@127.0.0.1:\(players.address.port)/screen"
    }

    var log: String { "pushes: \(pushes.map { "\($0.state)" }), joins: \(joins.map { "\($0.state)" })" }

    func end() throws {
        // On a busy machine, the writer is late now and then, which is heard as a break.
        try eventually("more than a second that was written in time") { writer.longestRun >= 60 }
        for push in pushes { push.stop() }
        for join in joins { join.stop() }
        try eventually("the pushes' end") { pushes.allSatisfy { $0.state.isOver } }
        for join in joins { join.waitForEnd() }
        players.stop()
        writer.stop()
        thread.join()
        stopRecording()
        host.stop()
    }

    /// Draws a bar that wanders, and plays the tone.
    private final class Writer: Sendable {
        let video: CustomVideoTrack
        let sound: CustomAudioTrack
        private let isOver = Atomic(false)
        /// The most packets of 20 ms in a row that were written in time.
        private let longest = Atomic(0)

        var longestRun: Int { longest.load(ordering: .relaxed) }

        init() throws {
            video = try CustomVideoTrack(picturesPerSecond: 25)
            sound = try CustomAudioTrack(channelCount: 2)
        }

        func stop() { isOver.store(true, ordering: .relaxed) }

        func write() {
            let size = PictureSize(width: 320, height: 240)
            let samples = tone(440, seconds: 1, channelCount: 2)
            let begin = now()
            var (number, run) = (0, 0)
            while !isOver.load(ordering: .relaxed) {
                let time = begin + .milliseconds(Int64(20 * number))
                defer { number += 1 }
                while now() < time { poll(nil, 0, 1) }
                let first = number % 50 * 1920
                sound.write(
                    samples: AudioSamples(channelCount: 2, samples: Array(samples[first..<first + 1920])),
                    captured: time)
                run = now() - time < .milliseconds(100) ? run + 1 : 0
                longest.store(max(longestRun, run), ordering: .relaxed)
                guard number.isMultiple(of: 2) else { continue }
                let row = (0..<size.width).map { column in
                    UInt8((column + size.width - number * 2 % size.width) % size.width < 40 ? 200 : 90)
                }
                let luma = (0..<size.height).flatMap { _ in row }
                video.write(
                    picture: I420Picture(
                        size: size, bytes: luma + [UInt8](repeating: 128, count: luma.count / 2), isFullRange: false,
                        matrix: .bt709, captureTime: nil), captured: time)
            }
        }
    }
}
