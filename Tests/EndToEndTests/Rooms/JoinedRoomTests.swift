import BrowserDriver
import Foundation
import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// A share as a member of rooms on servers that are written only from the protocols' texts.
    @Suite("Joining others' rooms", .enabled(if: EndToEnd.isPossible && PythonClient.isAvailable))
    struct JoinedRooms {
        private let port: UInt16
        init() throws { port = try freePort() }

        private func skyRTCServer(_ options: [String] = []) throws -> PythonClient {
            let server = try PythonClient("skyrtc_server", in: .rtc, ["--port", "\(port)"] + options)
            try server.event("listening")
            return server
        }

        private func pairServer(_ environment: PythonClient.Environment) throws -> PythonClient {
            let server = try PythonClient("pair_server", in: environment, ["--port", "\(port)"])
            try server.event("listening")
            return server
        }

        private var mesh: String { "skyrtc:ws://127.0.0.1:\(port)" }
        private var pair: String { "socketio:http://127.0.0.1:\(port)" }

        /// A member of the mesh, which has joined.
        private func member(_ options: [String] = []) throws -> PythonClient {
            let client = try PythonClient(
                "skyrtc_client", in: .rtc, ["ws://127.0.0.1:\(port)/mesh", "Sesam", "--pictures-only"] + options)
            try client.event("joined")
            return client
        }

        private func caller() throws -> PythonClient {
            let client = try PythonClient(
                "socketio_client", in: .socketio5,
                ["--url", "http://127.0.0.1:\(port)", "--room", "Sesam", "--transport", "websocket"])
            try client.event("connected")
            return client
        }

        private func joins(of desktop: SharedDesktop) throws -> JSONValue {
            let process = "\(desktop.host.child.processID)"
            let status = try CommandLineRun(["screenrelay", "status", "--json", "--pid", process])
            let line = try #require(status.output.split(separator: "\n").first)
            return try JSONDecoder().decode(JSONValue.self, from: Data(line.utf8))["joins"]
        }

        private func waitForWords(_ words: String, of desktop: SharedDesktop, count: Int = 1) throws {
            try eventually("'\(words)'", within: .seconds(90)) {
                desktop.host.output.split(separator: "\n").count { $0.contains(words) } >= count
            }
        }

        @Test(
            "in a SkyRTC server's room, two members and a third that comes later see the screen; the server restarts",
            .timeLimit(.minutes(5)))
        func meeting() throws {
            let server = try skyRTCServer()
            let (first, second) = (try member(), try member())
            let desktop = try SharedDesktop(options: ["--join", "\(mesh)/mesh#Sesam"])
            try waitForWords("the join to \(mesh): joined, 2 members", of: desktop)
            let ids = server.events.filter { $0["event"] as? String == "join" }.compactMap { $0["id"] as? String }
            #expect(ids.count == 3)
            let share = try #require(ids.last)
            // The share came last, so it offers.
            for client in [first, second] {
                try client.event("offer") { $0["peer"] as? String == share }
                try client.event("video") {
                    $0["peer"] as? String == share && $0["frames"] as? Int ?? 0 >= 5 && $0["width"] as? Int == 640
                }
            }
            // This one came later, so it offers, a picture of its own, too.
            let third = try member(["--binary"])
            try third.event("answer") { $0["peer"] as? String == share }
            try third.event("video") { $0["peer"] as? String == share && $0["frames"] as? Int ?? 0 >= 5 }
            try waitForWords("joined, 3 members", of: desktop)
            let status = try joins(of: desktop)[0]
            #expect(status["to"].string == mesh && status["state"].string == "joined" && status["members"].int == 3)

            try third.tell("quit")
            try waitForWords("joined, 2 members", of: desktop, count: 2)
            server.child.terminate(SIGKILL)
            try waitForWords("waiting to try again: the server closed the connection", of: desktop)
            let restarted = try skyRTCServer()
            try restarted.event("join")
            let late = try member()
            try late.event("video") { $0["frames"] as? Int ?? 0 >= 5 }

            #expect(desktop.host.stop() == .exited(0))
            try restarted.event("leave")
            #expect(!desktop.host.output.contains("Sesam") && !desktop.host.log.contains("Sesam"))
        }

        @Test(
            "in a room for two, the share answers who is there first, and calls who comes second",
            .timeLimit(.minutes(5)))
        func call() throws {
            let server = try pairServer(.socketio5)
            let first = try caller()
            try first.event("joined")
            let desktop = try SharedDesktop(options: ["--join", "\(pair)#Sesam"])
            try first.event("message") { $0["type"] as? String == "answer" }
            try first.event("frame") { $0["count"] as? Int ?? 0 >= 10 && $0["width"] as? Int == 640 }
            try waitForWords("the join to \(pair): joined, 1 member", of: desktop)

            try first.tell("leave")
            try first.event("end")
            try waitForWords("joined, 0 members", of: desktop)
            let second = try caller()
            try second.event("message") { $0["type"] as? String == "offer" }
            try second.event("frame") { $0["count"] as? Int ?? 0 >= 10 }

            server.child.terminate(SIGKILL)
            try waitForWords("waiting to try again", of: desktop)
            let restarted = try pairServer(.socketio5)
            try restarted.event("join")
            let third = try caller()
            try third.event("frame") { $0["count"] as? Int ?? 0 >= 10 }
            #expect(desktop.host.stop() == .exited(0))
            try third.event("bye")
            #expect(!desktop.host.output.contains("Sesam") && !desktop.host.log.contains("Sesam"))
        }

        @Test(
            "a server of socket.io 2 lets the share in too, and a full room takes it when there is a place",
            .timeLimit(.minutes(5)))
        func olderServer() throws {
            let server = try pairServer(.socketio4)
            let clients = try (0..<2).map { _ in
                try PythonClient(
                    "socketio_client", in: .socketio4,
                    ["--url", "http://127.0.0.1:\(port)", "--room", "Sesam", "--transport", "websocket"])
            }
            for client in clients { try client.event("joined") }
            let desktop = try SharedDesktop(options: ["--join", "\(pair)#Sesam"])
            try waitForWords("the room is full", of: desktop)
            try server.event("full")
            for client in clients { try client.tell("leave") }
            try waitForWords("joined, 0 members", of: desktop)
            let late = try PythonClient(
                "socketio_client", in: .socketio4,
                ["--url", "http://127.0.0.1:\(port)", "--room", "Sesam", "--transport", "websocket"])
            try late.event("frame") { $0["count"] as? Int ?? 0 >= 10 }
        }

        @Test(
            "a member that can't decode 4:4:4 gets no picture, which one warning says, and status",
            .timeLimit(.minutes(5)), arguments: [(false, false), (true, false), (true, true)])
        func fullChroma(_ isPair: Bool, _ isKnown: Bool) throws {
            let place = isPair ? pair : mesh
            let url = isPair ? "\(pair)#Sesam" : "\(mesh)/mesh#Sesam"
            let options = ["--chroma", "444", "--join", url]
            var early: SharedDesktop?
            if isKnown {
                // The format is known before a member offers.
                let desktop = try SharedDesktop(options: options)
                try waitForWords("waiting to try again: Could not connect", of: desktop)
                let picture = try CommandLineRun([
                    "screenrelay", "snapshot", desktop.link, "-o", desktop.folder.file("s.png"),
                ])
                #expect(picture.status == .exited(0), "\(picture.errorOutput)")
                early = desktop
            }
            let server = try isPair ? pairServer(.socketio5) : skyRTCServer()
            defer { _ = server }
            let client = try isPair ? caller() : member()
            try server.event("join")
            let desktop = try early ?? SharedDesktop(options: options)
            let words = "warning: \(place): a member gets no picture: the screen is shared in 4:4:4"
            try eventually("the warning", within: .seconds(90)) { desktop.host.log.contains(words) }
            try waitForWords(
                "the join to \(place): joined, 1 member, 1 without a picture: the screen is shared in 4:4:4",
                of: desktop)
            let join = try joins(of: desktop)[0]
            #expect(join["state"].string == "joined" && join["members"].int == 1 && join["excluded"].int == 1)
            #expect(join["reason"].string?.contains("--chroma 444,420") == true)
            try eventually("the status") {
                let status = try CommandLineRun(["screenrelay", "status", "--pid", "\(desktop.host.child.processID)"])
                return status.output.contains("\(place): joined, 1 member, 1 without a picture: the screen") ? () : nil
            }
            // Without it, no member is excluded.
            client.child.stop()
            // The words may be from before the member came.
            try eventually("an empty room", within: .seconds(90)) {
                let join = try joins(of: desktop)[0]
                return join["members"].int == 0 && join["excluded"].int == nil
            }
            try eventually("the line without an excluded member", within: .seconds(90)) {
                desktop.host.output.contains("the join to \(place): joined, 0 members\n")
            }
            #expect(desktop.host.stop() == .exited(0))
            #expect(desktop.host.log.split(separator: "\n").count { $0.contains("warning: \(place)") } == 1)
        }

        @Test("a server that isn't there, or sends too much, is said once, and no reason to end the share")
        func faults() throws {
            let desktop = try SharedDesktop(options: ["--join", "\(mesh)#Sesam"])
            try waitForWords("the join to \(mesh): waiting to try again: Could not connect", of: desktop)
            let server = try skyRTCServer(["--oversized", "65537"])
            try waitForWords("the server sent a message of more than 65536 bytes", of: desktop)
            try eventually("another try", within: .seconds(90)) {
                server.events.count { $0["event"] as? String == "join" } >= 2
            }
            let lines = desktop.host.output.split(separator: "\n")
            #expect(lines.count { $0.contains("Could not connect") } == 1)
            let arguments = String(
                decoding: try fileBytes("/proc/\(desktop.host.child.processID)/cmdline"), as: UTF8.self)
            #expect(!arguments.contains("Sesam"))
            #expect(desktop.host.stop() == .exited(0))
        }

        @Test("a URL that can't be used is refused in one line without its room, with 64")
        func mistakes() throws {
            for (url, reason) in [
                ("wss://rooms.example/#Sesam", "write it like"), ("skyrtc:https://h#Sesam", "wss:// or ws://"),
                ("skyrtc:wss://rooms.example/Sesam", "names no room"),
            ] {
                let run = try CommandLineRun(["screenrelay", "host", "--join", url] + RunningProgram.anyPorts)
                #expect(run.status == .exited(64))
                let line = try #require(run.errorLine)
                #expect(line.contains("--join: ") && line.contains(reason) && !line.contains("Sesam"), "\(line)")
            }
            let many = (0..<17).flatMap { ["--join", "skyrtc:ws://127.0.0.1:9#\($0)"] }
            let run = try CommandLineRun(["screenrelay", "host"] + many + RunningProgram.anyPorts)
            #expect(run.status == .exited(64) && run.errorLine?.contains("16 at most") == true)
        }
    }
}
