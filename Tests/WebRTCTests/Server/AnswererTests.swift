import Foundation
import Glibc
import MediaSessions
import MediaTypes
import Processes
import STUN
import TestSupport
import Testing
import Threading
import TrackHub

@testable import WebRTC

/// The environment that `Tools/python` makes for aiortc.
private enum Environment {
    static let interpreter = packageRoot + "/.build/python/rtc/bin/python"
    static var isAvailable: Bool { access(interpreter, X_OK) == 0 }
}

@Suite("aiortc answers an offer of the controlling host", .enabled(if: Environment.isAvailable))
struct AnswererTests {
    /// What it has said so far.
    private func events(of answerer: ChildProcess) -> [[String: Any]] {
        (answerer.output?.text ?? "").split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
    }

    @Test("a full agent is checked, accepts the nomination, begins DTLS and gets packets")
    func fullAgent() throws {
        let server = try MediaServer(
            MediaServerConfiguration(bind: TransportAddress(ipv4: 127, 0, 0, 1, port: 0)), log: .silent)
        defer { server.stop() }
        let hub = TrackHub(origin: now())
        hub.connect(source: RecordingSource())
        let offered = try server.offer(watching: WatchedSource(video: hub), controlling: true) { _ in }

        var launch = Launch(Environment.interpreter, ["-u", packageRoot + "/Tests/EndToEndTests/Clients/answerer.py"])
        launch.environment = ["PYTHONDONTWRITEBYTECODE": "1"]
        launch.standardInput = .pipe
        launch.standardOutput = .text(limit: 1 << 20)
        launch.standardError = .text(limit: 1 << 20)
        let answerer = try ChildProcess(launch)
        defer { answerer.stop(within: .zero) }
        let text = try JSONSerialization.data(withJSONObject: offered.offer, options: .fragmentsAllowed)
        try answerer.write(Array(text) + [UInt8(ascii: "\n")])
        let answer = try eventually("an answer") {
            events(of: answerer).first { $0["event"] as? String == "answer" }?["sdp"] as? String
        }
        try server.accept(answer: answer, for: offered.id)
        try eventually("a connection") { server.statistics(of: offered.id)?.isConnected == true }
        hub.publish(Pictures.idr(20_000, captured: now()), epoch: 1, arrival: now())
        try eventually("packets") { events(of: answerer).contains { $0["event"] as? String == "packets" } }
        #expect(events(of: answerer).contains { $0["state"] as? String == "connected" })
    }
}
