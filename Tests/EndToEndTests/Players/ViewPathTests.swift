import BrowserDriver
import Glibc
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// Clients without a browser in networks that let no UDP through to the host.
    @Suite(
        "The paths of view", .enabled(if: EndToEnd.isPossible),
        .disabled(if: LossyNetwork.obstacle != nil, "no network of our own: \(LossyNetwork.obstacle ?? "")"))
    struct ViewPathTests {
        private static let command = ["view", "--no-window", "--stats", "json"]
        private static let port = "\(LossyNetwork.mediaPort)"

        @Test("UDP is preferred", .timeLimit(.minutes(5)))
        func direct() throws {
            // It loses what nobody sends.
            let network = try LossyNetwork(losing: "udp dport 9")
            let desktop = try SharedDesktop(options: ["--udp-port", Self.port], inside: network)
            defer { desktop.stop() }
            let viewer = try RunningProgram("screenrelay", Self.command + [desktop.link], prefix: network.prefix)
            #expect(try waitForPictures(viewer)["path"].string == "udp")
            #expect(!desktop.host.log.contains(" over TCP"))
        }

        @Test("if UDP doesn't reach the host, frames come over TCP", .timeLimit(.minutes(5)))
        func tcp() throws {
            let network = try LossyNetwork(losing: "udp dport \(Self.port)")
            let desktop = try SharedDesktop(options: ["--udp-port", Self.port], inside: network)
            defer { desktop.stop() }
            let viewer = try RunningProgram("screenrelay", Self.command + [desktop.link], prefix: network.prefix)
            let second = try waitForPictures(viewer, withDelay: true)
            #expect(second["path"].string == "tcp" && second["lostPackets"].int == 0)
            #expect(try network.lostDatagrams() > 0, "UDP was tried")
            #expect(desktop.host.occurrences(of: " over TCP") == 1)
            #expect(viewer.stop() == .exited(0))
            try eventually("the end of the session in the host's log") {
                desktop.host.log.contains("a player left") || desktop.host.log.contains("a player's session ended")
            }
        }

        @Test(
            "a program with the client library reads and publishes over TCP", .timeLimit(.minutes(5)),
            .enabled(if: builtProgram("mirror") != nil))
        func library() throws {
            let network = try LossyNetwork(losing: "udp dport \(Self.port)")
            let desktop = try SharedDesktop(options: ["--udp-port", Self.port, "--presenters"], inside: network)
            defer { desktop.stop() }
            let token = try #require(desktop.link.split(separator: ",").last)
            let link = try desktop.link.replacing(token, with: desktop.host.presentersToken())
            let mirror = try RunningProgram("mirror", [link], prefix: network.prefix)
            try eventually("frames", holds: { mirror.output.contains("frame 26 of screen, ") })
            try eventually("the publication", holds: { mirror.output.contains("published mirror\n") })
            let viewer = try RunningProgram(
                "screenrelay", Self.command + ["--track", "mirror", desktop.link], prefix: network.prefix)
            #expect(try waitForPictures(viewer)["path"].string == "tcp")
        }

        @Test(
            "if neither UDP nor TCP reaches the host, frames come through a TURN server of the host's or of the user's",
            .timeLimit(.minutes(5)), .enabled(if: CoturnServer.isAvailable), arguments: ["host", "user"])
        func relay(naming: String) throws {
            let address = "192.0.2.1"
            // What coturn relays to the host passes.
            let network = try LossyNetwork(rules: [
                "add chain inet loss out '{ type filter hook output priority 0; }'",
                "add rule inet loss out udp dport \(Self.port) udp sport != \(CoturnServer.relayPorts) counter drop",
                "add rule inet loss out tcp dport \(Self.port) counter drop",
            ])
            let coturn = try CoturnServer(at: address, inside: network)
            let password = CoturnServer.password.replacing(" ", with: "%20").replacing("\"", with: "%22")
            let server = [
                "--ice-server", "turn:\(CoturnServer.user):\(password)@\(address):\(CoturnServer.port)?transport=tcp",
            ]
            let desktop = try SharedDesktop(
                options: ["--lan", "--listen", "0", "--udp-port", Self.port] + (naming == "host" ? server : []),
                inside: network)
            defer { desktop.stop() }
            let viewer = try RunningProgram(
                "screenrelay", Self.command + (naming == "user" ? server : []) + [desktop.link], prefix: network.prefix)
            #expect(try waitForPictures(viewer)["path"].string == "relay")
            #expect(try network.lostDatagrams() > 0, "UDP was tried")
            let arguments = String(decoding: try fileBytes("/proc/\(viewer.child.processID)/cmdline"), as: UTF8.self)
            #expect(!arguments.contains(password) && !viewer.log.contains(password))
            #expect(viewer.stop() == .exited(0))
            try eventually("the address is given back") {
                coturn.log.contains("refreshed, realm=<turn.example>, username=<desk>, lifetime=0")
            }
        }
    }
}
