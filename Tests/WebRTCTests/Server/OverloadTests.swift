import CaptureLink
import MediaSessions
import MediaTypes
import STUN
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub

@testable import WebRTC

@Suite("A media thread that is overloaded")
struct OverloadTests {
    private final class Log: Sendable {
        let warnings = Mutex<[String]>([])
    }

    @Test("new viewers are refused and the source makes fewer frames; those who watch stay, and others can join later")
    func overload() throws {
        var configuration = MediaServerConfiguration(bind: TransportAddress(ipv4: 127, 0, 0, 1, port: 0))
        configuration.threadCount = 1
        // Every turn is late, and a tenth of a second of them is too much.
        configuration.lagLimits = LoopLag.Limits(lag: .zero, busyShare: 0, duration: .milliseconds(100))
        let log = Log()
        let server = try MediaServer(
            configuration,
            log: EventLog { level, line in
                if level == .warning { log.warnings.withLock { $0.append(line) } }
            })
        defer { server.stop() }
        let address = TransportAddress(ipv4: 127, 0, 0, 1, port: server.port)
        let hub = TrackHub(origin: now())
        let source = RecordingSource()
        hub.connect(source: source)
        let viewer = try SocketViewer(of: server, watching: hub, at: address)
        try viewer.connect()
        func publish(_ frame: CodedFrame) { hub.publish(frame, epoch: 1, arrival: now()) }
        publish(Pictures.idr(8_000, captured: now()))
        var refusal: MediaSessionError?
        try eventually("a refusal") {
            publish(Pictures.delta(500, seed: 1, captured: now()))
            viewer.pump()
            guard server.isOverloaded else { return false }
            do {
                server.close(try SocketViewer(of: server, watching: hub, at: address).id)
            } catch let error as MediaSessionError {
                refusal = error
            }
            return refusal != nil
        }
        #expect(refusal == .full("the host is too busy for another viewer"))
        #expect(server.lag > .zero)
        #expect(source.frameRates.first == FrameRate(millihertz: 22_500))
        let last = Pictures.delta(700, seed: 2, captured: now())
        publish(last)
        try eventually("the last picture at the viewer who was there") {
            viewer.pump()
            return viewer.shows(last)
        }
        #expect(viewer.end == nil)
        try eventually("room for another viewer") { !server.isOverloaded }
        #expect(log.warnings.withLock { $0.count { $0.hasPrefix("the host is late by ") } } == 1)
    }
}
