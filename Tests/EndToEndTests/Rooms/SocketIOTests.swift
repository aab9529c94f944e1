import BrowserDriver
import Glibc
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEnd {
    /// Clients of one-to-one rooms, whose Engine.IO, socket.io and WebRTC code isn't ours.
    @Suite("socket.io's one-to-one rooms", .enabled(if: EndToEnd.isPossible && PythonClient.isAvailable))
    struct SocketIOTests {
        /// The two clients on PyPI: one speaks Engine.IO 3, the other 4.
        static let environments: [PythonClient.Environment] = [.socketio4, .socketio5]
        static let transports = [["polling", "websocket"], ["websocket"]]

        private func client(
            _ desktop: SharedDesktop, _ environment: PythonClient.Environment, _ transports: [String],
            room: String? = nil
        ) throws -> PythonClient {
            let parts = desktop.link.split(separator: "#", maxSplits: 1).map(String.init)
            let named = room ?? parts[1]
            return try PythonClient(
                "socketio_client", in: environment,
                ["--url", parts[0], "--room", named] + transports.flatMap { ["--transport", $0] })
        }

        @Test(
            "a client joins, is called, answers, watches and leaves; one too many finds the room full",
            .timeLimit(.minutes(5)), arguments: environments, transports)
        func life(environment: PythonClient.Environment, transports: [String]) throws {
            let desktop = try SharedDesktop()
            let room = String(desktop.link.split(separator: "#", maxSplits: 1)[1])
            let client = try client(desktop, environment, transports)
            let joined = try client.event("joined")
            #expect(joined["room"] as? String == room)
            // A client that polls first has upgraded by now.
            #expect(joined["transport"] as? String == "websocket")
            try client.event("message") { $0["type"] as? String == "offer" }
            let described = try client.event("described") { $0["type"] as? String == "answer" }
            #expect((described["candidates"] as? Int ?? 0) > 0)
            let frame = try client.event("frame") { $0["count"] as? Int ?? 0 >= 20 }
            #expect(frame["width"] as? Int == 640)
            #expect(frame["height"] as? Int == 480)
            #expect(desktop.host.occurrences(of: "a socket.io client came") == 1)

            // When the call ends, the host leaves, and comes back as the second of the two: now the client calls it.
            try client.tell("hang up")
            #expect(try client.event("bye")["room"] as? String == room)
            #expect(try client.event("otherjoin")["room"] as? String == room)
            try client.event("message") { $0["type"] as? String == "answer" }
            try eventually("frames of the second call", within: .seconds(90)) {
                client.events.count { $0["event"] as? String == "frame" && $0["count"] as? Int == 1 } == 2
            }

            #expect(client.events.allSatisfy { $0["event"] as? String != "other_joined" }, "that is an option")

            let second = try self.client(desktop, environment, transports)
            #expect(try second.event("full")["room"] as? String == room)
            try second.event("end")

            try client.tell("leave")
            #expect(try client.event("leaved")["id"] as? String == joined["id"] as? String)
            #expect(try client.event("end")["state"] as? String == "leaved")
            try desktop.host.waitForLog("a socket.io client left")
            try desktop.host.waitForLog("the host wants no pictures")
            // The room's token is in no log.
            #expect(!desktop.host.log.contains(room.split(separator: ",")[1]))
        }

        @Test(
            "a client that only polls lives on its heartbeat, and one that is killed frees its place",
            .timeLimit(.minutes(5)), arguments: environments)
        func killed(environment: PythonClient.Environment) throws {
            let desktop = try SharedDesktop()
            let client = try client(desktop, environment, ["polling"])
            try client.event("joined")
            try client.event("frame")
            client.child.terminate(SIGKILL)
            try desktop.host.waitForLog("a socket.io client left")
            let second = try self.client(desktop, environment, ["polling"])
            try second.event("frame")
        }

        @Test(
            "two clients call each other in a room that isn't the host's, and hear when one is killed",
            .timeLimit(.minutes(5)), arguments: environments)
        func pair(environment: PythonClient.Environment) throws {
            let desktop = try SharedDesktop(options: ["--pair-rooms", "--other-joined"])
            let token = desktop.link.split(separator: ",")[1]
            let first = try client(desktop, environment, ["websocket"], room: "call,\(token)")
            try first.event("joined")
            let second = try client(desktop, environment, ["polling", "websocket"], room: "call,\(token)")
            try second.event("joined")
            try first.event("otherjoin")
            try first.event("other_joined")
            try second.event("message") { $0["type"] as? String == "offer" }
            try first.event("message") { $0["type"] as? String == "answer" }
            for client in [first, second] { try client.event("peer") { $0["state"] as? String == "connected" } }
            let third = try client(desktop, environment, ["websocket"], room: "call,\(token)")
            try third.event("full")
            second.child.terminate(SIGKILL)
            try first.event("bye")
        }

        @Test(
            "a host that ends says bye, and a wrong token finds nothing", .timeLimit(.minutes(5)),
            arguments: environments)
        func ends(environment: PythonClient.Environment) throws {
            let desktop = try SharedDesktop()
            let stranger = try client(desktop, environment, ["websocket"], room: "screen,wrong")
            try stranger.event("leaved")
            #expect(try stranger.event("end")["state"] as? String == "leaved")
            let client = try client(desktop, environment, ["websocket"])
            try client.event("message") { $0["type"] as? String == "offer" }
            desktop.host.stop()
            try client.event("bye")
            #expect(try client.event("end")["state"] as? String == "joined_unbind")
        }
    }
}
