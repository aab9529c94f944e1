import CaptureLink
import Foundation
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// A viewer without WebRTC, written only from the protocol's text.
    @Suite("Pictures over the WebSocket", .enabled(if: EndToEnd.isPossible && PythonClient.isAvailable))
    struct FramesTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        private func viewer(of link: String, named name: String = "viewer") throws -> PythonClient {
            let parts = link.split(separator: "#", maxSplits: 1)
            let address = "ws" + parts[0].dropFirst(4) + "ws"
            return try PythonClient(
                "frames_client", in: .rtc, [address, String(parts.last ?? ""), folder.file("\(name).h264")])
        }

        /// The NAL units of a byte stream (ITU-T H.264 annex B). The file's start codes are shorter within a picture.
        private static func units(_ bytes: [UInt8]) -> [[UInt8]] {
            var units: [[UInt8]] = []
            var start: Int?
            for index in bytes.indices.dropLast(2) where bytes[index...].starts(with: [0, 0, 1]) {
                if let start { units.append(Array(bytes[start..<index])) }
                start = index + 3
            }
            if let start { units.append(Array(bytes[start...])) }
            // A fourth byte of the next start code.
            return units.map { $0.last == 0 ? $0.dropLast() : $0 }
        }

        @Test("a replay's access units arrive byte for byte, in order", .timeLimit(.minutes(5)))
        func everyByte() throws {
            let address = "unix:" + folder.file("s.sock")
            let host = try RunningProgram.host(address)
            let viewer = try viewer(of: host.printedLink())
            #expect(try viewer.event("begun")["track"] as? String == "screen")
            let replay = try CommandLineRun(["screenrelay", "replay", "--link", address, TestStreams.small.path])
            #expect(replay.status == .exited(0), "\(replay.errorOutput)")
            try viewer.event("picture") { $0["number"] as? Int == 100 }
            let sent = try Self.units(TestStreams.small.bytes())
            #expect(sent.count >= 100)
            #expect(try Self.units(fileBytes(folder.file("viewer.h264"))) == sent)
            let pictures = viewer.events.filter { $0["event"] as? String == "picture" }
            #expect(pictures.map { $0["key"] as? Bool } == (0..<100).map { $0 % 25 == 0 })
            #expect(!viewer.events.contains { $0["event"] as? String == "wrong" })
            try viewer.tell("stop")
            try viewer.event("obeyed")
            #expect(host.stop() == .exited(0))
        }

        @Test(
            "sound comes packet by packet, byte for byte, while it is asked for; one that freezes gets the newest",
            .timeLimit(.minutes(5)))
        func sound() throws {
            let path = folder.file("s.sock")
            let host = try RunningProgram.host("unix:" + path)
            let viewer = try viewer(of: host.printedLink())
            try viewer.event("begun")
            let source = try SoundSource(at: path)
            try viewer.tell("sound")
            try source.wait(for: .watched)
            let packets = try source.play(20)
            try viewer.event("sound") { $0["number"] as? Int == 20 }
            let heard = viewer.events.filter { $0["event"] as? String == "sound" }
            #expect(heard.map { $0["packet"] as? String } == packets)
            let times = heard.compactMap { $0["time"] as? Int }
            #expect(zip(times, times.dropFirst()).allSatisfy { abs($1 - $0 - 20_000) <= 1 })

            try viewer.tell("freeze")
            try viewer.event("obeyed") { $0["command"] as? String == "freeze" }
            // What is under way fills up within half a second, and then nothing more is sent.
            for _ in 0..<100 {
                _ = try source.playNext()
            }
            try viewer.tell("go")
            var newest: Set<String> = []
            try eventually("the newest sound") {
                newest.insert(try source.playNext())
                return viewer.events.contains { ($0["packet"] as? String).map(newest.contains) == true } ? () : nil
            }
            let count = viewer.events.count { $0["event"] as? String == "sound" }
            #expect(count < source.played - 50, "\(count) of \(source.played)")
            #expect(!viewer.events.contains { $0["event"] as? String == "wrong" })

            try viewer.tell("silence")
            try source.wait(for: .unwatched)
            #expect(host.stop() == .exited(0))
        }

        /// A source of sound at a host's link, which sends packets of 20 ms, each another one.
        private final class SoundSource {
            private let socket: TestSocket
            private let encoder = MessageEncoder(epoch: 9, stream: 1)
            private var decoder = MessageDecoder()
            private let begin = now()
            private var sentAt = now()
            private(set) var played = 0

            init(at path: String) throws {
                socket = try TestSocket(path: path)
                let hello = Hello(role: .capture, name: "test", processID: 1, makesKeyFrames: true)
                try socket.send(encoder.encode(.hello(hello)) + encoder.encode(.format(.opus)))
            }

            /// Sends so many packets, and returns them in hexadecimal.
            func play(_ count: Int) throws -> [String] {
                try (0..<count).map { _ in
                    played += 1
                    let packet: [UInt8] = [0xFC, UInt8(played >> 8), UInt8(truncatingIfNeeded: played), 9]
                    let payload = [0, 0, 0, 1] + packet
                    let captured = begin + .milliseconds(Int64(played) * 20)
                    let header = try encoder.unitHeader(
                        payloadCount: payload.count, captureTime: captured, endsFrame: true)
                    try socket.send(header + payload)
                    return packet.map { String(format: "%02x", $0) }.joined()
                }
            }

            /// Sends the next packet 20 ms after the one before, and returns it.
            func playNext() throws -> String {
                try eventually("the next packet's time") { now() >= sentAt + .milliseconds(20) }
                sentAt = now()
                return try play(1)[0]
            }

            /// Waits until the host says `body`.
            func wait(for body: LinkMessage) throws {
                try eventually("\(body)") { () throws -> Void? in
                    guard let bytes = socket.receive(), !bytes.isEmpty else { return nil }
                    decoder.push(bytes)
                    while let message = try decoder.next() { if message.body == body { return () } }
                    return nil
                }
            }
        }

        @Test(
            "one that stops confirming, or reading, is sent little; the other sees no difference; then it gets the newest",
            .timeLimit(.minutes(5)), arguments: ["stall", "freeze"])
        func stall(_ how: String) throws {
            let desktop = try SharedDesktop()
            let stalled = try viewer(of: desktop.link, named: "stalled")
            let other = try viewer(of: desktop.link, named: "other")
            for viewer in [stalled, other] { try viewer.event("picture") { ($0["number"] as? Int ?? 0) >= 20 } }
            try stalled.tell(how)
            try stalled.event("obeyed")
            let before = count(stalled)
            let begun = count(other)
            try other.event("picture") { ($0["number"] as? Int ?? 0) >= begun + 60 }
            #expect(count(stalled) - before < 30)

            try stalled.tell("go")
            let time = try #require(last(other)["time"] as? Int)
            let newest = try stalled.event("picture") { ($0["time"] as? Int ?? 0) > time }
            try stalled.event("picture") { ($0["number"] as? Int ?? 0) > (newest["number"] as? Int ?? 0) + 10 }
            #expect(!stalled.events.contains { $0["event"] as? String == "wrong" })
            let keys = other.events.filter { $0["event"] as? String == "picture" && $0["key"] as? Bool == true }
            #expect(keys.count <= 4, "its stall cost the other few key pictures")
            _ = try #require(desktop.host.stop())
            // Both streams can be decoded as they came.
            for name in ["stalled", "other"] {
                let decoded = try FFmpeg.decode(folder.file("\(name).h264"), input: ["-f", "h264"])
                #expect(decoded.status == .exited(0) && decoded.faults.isEmpty, "\(decoded.messages)")
                #expect(!decoded.bytes.isEmpty)
            }
        }

        private func last(_ viewer: PythonClient) throws -> [String: Any] {
            try #require(viewer.events.last { $0["event"] as? String == "picture" })
        }

        private func count(_ viewer: PythonClient) -> Int {
            viewer.events.count { $0["event"] as? String == "picture" }
        }
    }
}
