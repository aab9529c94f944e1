import CaptureLink
import Ingest
import LinkTransport
import MediaTypes
import TestSupport
import Testing
import Threading
import TrackHub

/// Connections that never become a capture.
extension NetworkLinkTests {
    @Test("unidentified peers that send much and finish nothing are closed before that costs memory")
    func unfinished() throws {
        let host = try Host()
        let header = try MessageEncoder(epoch: 1).unitHeader(
            payloadCount: 8 << 20, captureTime: nil, endsFrame: true)
        // Eight of them send 1 MiB each, and at most 4 MiB are allowed.
        let half = [0, 0, 0, 1] + [UInt8](repeating: 0x55, count: 1 << 20)
        var senders: [TestCapture] = []
        for _ in 0..<8 {
            let sender = try capture(host)
            try? sender.send(bytes: header + half)
            senders.append(sender)
        }
        try eventually("the end of some", holds: { host.count(of: "have sent too much; closed one") >= 4 })
        let good = try capture(host)
        try good.greet()
        try eventually("a capture to be taken", holds: { host.ingest.hub.sourceState == .live })
        #expect(senders.count == 8)
    }

    @Test("as many connections as may wait are left alone: room is made only for who comes")
    func room() throws {
        let host = try Host()
        var waiting: [TestCapture] = []
        for count in 1...32 {
            let next = try capture(host)
            try next.wait(for: "the hello") { !$0.isEmpty }
            waiting.append(next)
            guard count == 31 else { continue }
            // Wait until they are old enough to be closed for others.
            let begin = now()
            try eventually("a while", holds: { now() - begin > .milliseconds(150) })
        }
        try waiting[31].greet()
        try eventually("it to be taken", holds: { host.ingest.hub.sourceState == .live })
        #expect(host.count(of: "closed the oldest") == 0)
        waiting.append(try capture(host))
        waiting.append(try capture(host))
        try host.waitForLog("closed the oldest")
    }

    @Test("connections that say nothing are closed in time, and no flood of them keeps a capture out")
    func flood() throws {
        let host = try Host()
        let begin = now()
        var silent: [SocketConnection] = []
        for _ in 0..<60 { silent.append(try SocketConnection.connect(to: host.address)) }
        let capture = try capture(host)
        try capture.wait(for: "the hello") { !$0.isEmpty }
        try capture.greet()
        try eventually("the capture to be taken", holds: { host.ingest.hub.sourceState == .live })
        #expect(now() - begin < .seconds(5))
        #expect(host.count(of: "closed the oldest") < 10)
        var buffer = [UInt8](repeating: 0, count: 4096)
        for (index, connection) in silent.enumerated() {
            try eventually("the end of connection \(index)", within: .seconds(15)) { () throws -> Void? in
                while true {
                    switch try connection.receive(into: &buffer) {
                    case .bytes: continue
                    case .wouldBlock: return nil
                    case .closed: return ()
                    }
                }
            }
        }
        #expect(now() - begin < .seconds(12))
        #expect(host.ingest.hub.sourceState == .live)
    }
}
