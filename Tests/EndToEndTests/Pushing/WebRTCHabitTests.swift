import Foundation
import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    /// Servers with the habits of some that others run.
    @Suite("Pushing to servers that others run", .enabled(if: EndToEnd.isPossible && PythonClient.isAvailable))
    struct WebRTCHabitTests {
        private func server(_ habit: String, _ arguments: String...) throws -> (client: PythonClient, url: String) {
            let client = try PythonClient("whip_habits", in: .rtc, [habit] + arguments)
            let port = try #require(try client.event("listening")["port"] as? Int)
            return (client, "whip:http://127.0.0.1:\(port)/whip")
        }

        private func keyFrames(_ client: PythonClient) -> Int { client.events.count { $0["key"] as? Bool == true } }

        /// How many the capture has encoded: its log names each.
        private func encodedKeyFrames(_ desktop: SharedDesktop) -> Int {
            desktop.host.log.ranges(of: "debug: key frame ").count
        }

        @Test("a bridge that drops pictures before the second sender report shows a still screen, and asks for nothing")
        func bridge() throws {
            let (client, url) = try server("bridge")
            let desktop = try SharedDesktop(scene: ["--still"], options: ["--push", url])
            let first = try client.event("pictures")
            #expect(first["key"] as? Bool == true && first["width"] as? Int == 640)
            #expect(desktop.host.stop() == .exited(0))
        }

        @Test(
            "a server that asks for a key frame every 2 s gets it, and the capture of a still screen encodes none",
            arguments: ["pli", "fir"])
        func demanding(habit: String) throws {
            let (client, url) = try server(habit)
            let desktop = try SharedDesktop(scene: ["--still"], options: ["--push", url])
            // That of the beginning, the one behind the second report, and the first that it asked for.
            try eventually("the first key frames") { keyFrames(client) >= 3 }
            let encoded = encodedKeyFrames(desktop)
            #expect((1...3).contains(encoded))
            try eventually("five more") { keyFrames(client) >= 8 }
            #expect(encodedKeyFrames(desktop) == encoded)
            #expect(desktop.host.stop() == .exited(0))
        }

        @Test("two viewers who join at a server 300 ms apart while text scrolls both get a key frame within 0.5 s")
        func joins() throws {
            let (client, url) = try server("joins")
            let desktop = try SharedDesktop(scene: ["--scene", "scroll"], options: ["--push", url])
            func waits() -> [Int] {
                client.events.filter { $0["event"] as? String == "answered" }
                    .compactMap { $0["milliseconds"] as? Int }
            }
            try eventually("a key frame for each of six viewers") { waits().count >= 6 }
            // The source may be asked for half of them at most. One may wait for a busy machine.
            let sorted = waits().sorted()
            #expect(sorted[4] <= 500 && sorted[5] <= 1000, "\(sorted)")
            // The decoder has gone from one encoder's frames to the other's, and gets pictures still.
            let count = client.events.count { $0["event"] as? String == "pictures" }
            try eventually("more pictures") {
                client.events.count { $0["event"] as? String == "pictures" } >= count + 30
            }
            #expect(desktop.host.stop() == .exited(0))
        }

        @Test("a server that says nothing of what it receives gets all pictures")
        func mute() throws {
            let (client, url) = try server("mute")
            let desktop = try SharedDesktop(options: ["--push", url])
            try eventually("ten seconds of pictures") {
                (client.events.last { $0["event"] as? String == "pictures" }?["count"] as? Int ?? 0) >= 250
            }
            #expect(!desktop.host.output.contains("tries again") && !desktop.host.output.contains("has failed"))
            #expect(desktop.host.stop() == .exited(0))
        }

        @Test(
            "if UDP to the server is blocked, frames go through the TURN server that it has named",
            .enabled(if: CoturnServer.isAvailable),
            .disabled(if: LossyNetwork.obstacle != nil, "no network of our own: \(LossyNetwork.obstacle ?? "")"),
            arguments: ["turn", "turns"])
        func relay(scheme: String) throws {
            let address = "192.0.2.1"
            let network = try LossyNetwork(losing: "udp sport \(LossyNetwork.mediaPort) ip daddr \(address)")
            let certificate = scheme == "turns" ? try MadeCertificate(names: "IP:\(address)") : nil
            let coturn = try CoturnServer(at: address, inside: network, certificate: certificate)
            let folder = try TemporaryFolder()
            let authority = try certificate.map { try folder.write("authority", $0.text) }
            let word = CoturnServer.password.replacing("\"", with: "\\\"")
            let link =
                "<\(scheme):\(address):\(CoturnServer.port)?transport=tcp>; rel=\"ice-server\"; "
                + "username=\"\(CoturnServer.user)\"; credential=\"\(word)\"; credential-type=\"password\""
            let client = try PythonClient(
                "whip_habits", in: .rtc, ["link", "<stun:stun.example>; rel=\"ice-server\", " + link],
                prefix: network.prefix, environment: ["LOOPBACK": address])
            let port = try #require(try client.event("listening")["port"] as? Int)
            let desktop = try SharedDesktop(
                options: [
                    "--lan", "--listen", "0", "--udp-port", "\(LossyNetwork.mediaPort)", "--push",
                    "whip:http://\(address):\(port)/whip",
                ], inside: network, prefix: authority.map { ["env", "SSL_CERT_FILE=\($0)"] } ?? [])
            try client.event("pictures") { $0["count"] as? Int ?? 0 >= 60 }
            #expect(try network.lostDatagrams() > 0, "UDP was tried")
            #expect(desktop.host.occurrences(of: "is connected") == 1)
            #expect(desktop.host.stop() == .exited(0))
            try client.event("left")
            try eventually("the address is given back") {
                coturn.log.contains("refreshed, realm=<turn.example>, username=<desk>, lifetime=0")
            }
        }
    }
}
