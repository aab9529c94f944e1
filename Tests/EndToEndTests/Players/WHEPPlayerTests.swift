import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// A player that isn't a browser, and is written only from the protocol's specification.
    @Suite("WHEP by aiortc", .enabled(if: EndToEnd.isPossible && PythonClient.isAvailable))
    struct WHEPPlayerTests {
        private func player(of desktop: SharedDesktop, _ steps: [String], token: String? = nil) throws -> PythonClient {
            let parts = desktop.link.split(separator: "#", maxSplits: 1)
            let own = try #require(parts.last?.split(separator: ",", maxSplits: 1).last)
            return try PythonClient(
                "whep_player", in: .rtc, ["\(parts[0])whep/screen", "--token", token ?? String(own)] + steps)
        }

        @Test("it plays, trickles, restarts ICE while pictures go on, and leaves", .timeLimit(.minutes(5)))
        func life() throws {
            let desktop = try SharedDesktop()
            let player = try player(of: desktop, ["--trickle", "--restart", "--delete"])
            let answered = try player.event("answered")
            #expect(answered["status"] as? Int == 201)
            #expect(answered["type"] as? String == "application/sdp")
            #expect(answered["accepts"] as? String == "application/trickle-ice-sdpfrag")
            #expect((answered["location"] as? String)?.hasPrefix("/whep/screen/") == true)
            #expect((answered["links"] as? [String])?.isEmpty == true, "no ICE servers are configured")
            let frame = try player.event("frame")
            #expect(frame["width"] as? Int == 640 && frame["height"] as? Int == 480)

            let done = try player.event("done", within: .seconds(90))
            #expect(done.count == 1)
            let trickled = player.events.filter { $0["event"] as? String == "trickled" }
            #expect(trickled.map { $0["status"] as? Int } == [204, 204, 204, 204, 204, 204, 412])
            #expect(trickled.allSatisfy { $0["tag"] == nil || $0["tag"] is String == false })

            let restarted = try player.event("restarted")
            #expect(restarted["status"] as? Int == 200, "\(restarted)")
            #expect(restarted["type"] as? String == "application/trickle-ice-sdpfrag")
            #expect(restarted["is_new"] as? Bool == true)
            try player.event("between")
            let checks = player.events.filter { $0["event"] as? String == "checked" }
            #expect(checks.map { $0["success"] as? Bool } == [true, true])
            #expect(checks[0]["mapped"] as? Bool == true && checks[0]["genuine"] as? Bool == true)
            #expect(checks[0]["packets"] as? Int == 0, "the way isn't nominated yet")
            let moved = try player.event("moved")
            #expect((moved["requests"] as? Int ?? 0) > 0, "the host has asked whether it is there")
            #expect(desktop.host.occurrences(of: "is connected from") == 1, "one handshake")

            let deleted = player.events.filter { $0["event"] as? String == "deleted" }
            #expect(deleted.map { $0["status"] as? Int } == [200, 404])
            try desktop.host.waitForLog("a player left")
            #expect(!desktop.host.log.contains("restart by"), "no restart was refused")
        }

        @Test("one that stops without a word gets no more packets, but pictures as it goes on", .timeLimit(.minutes(5)))
        func stopped() throws {
            let desktop = try SharedDesktop()
            let player = try player(of: desktop, [])
            try player.event("frame") { $0["number"] as? Int ?? 0 >= 30 }
            let address = try #require(desktop.link.split(separator: "/").dropFirst().first)
            func metric(_ name: String) throws -> Int? {
                try PrometheusServer.text(at: "http://\(address)/metrics").split(separator: "\n")
                    .first { $0.hasPrefix("screenrelay_\(name) ") }?.split(separator: " ").last.flatMap { Int($0) }
            }
            player.child.terminate(SIGSTOP)
            defer { player.child.terminate(SIGCONT) }
            var last = (count: try #require(try metric("sent_packets_total")), time: now())
            // The desktop paints 30 frames per second. A session whose viewer is silent for 30 s ends.
            try eventually("two seconds without a packet", within: .seconds(20)) {
                let count = try #require(try metric("sent_packets_total"))
                if count != last.count { last = (count, now()) }
                return now() - last.time >= .seconds(2) ? () : nil
            }
            #expect(try metric("viewers") == 1)
            let seen = player.events.count { $0["event"] as? String == "frame" }
            player.child.terminate(SIGCONT)
            try player.event("frame") { $0["number"] as? Int ?? 0 > seen + 60 }
            #expect(desktop.host.occurrences(of: "a player came") == 1)
        }

        @Test("each mistake gets its status, and the session plays on", .timeLimit(.minutes(5)))
        func mistakes() throws {
            let desktop = try SharedDesktop()
            let player = try player(of: desktop, ["--mistakes"])
            try player.event("asked", within: .seconds(90)) { $0["what"] as? String == "all" }
            var answers: [String: [String: Any]] = [:]
            for event in player.events where event["event"] as? String == "asked" {
                answers[event["what"] as? String ?? ""] = event
            }
            for (what, status) in [
                ("offer of no type", 415), ("offer of another type", 415), ("no offer", 400), ("half an offer", 400),
                ("offer without H.264", 422), ("offer with a wrong token", 401), ("offer to no room", 401),
                ("an endless offer", 413), ("putting", 405), ("posting to the session", 405),
                ("fragment of another type", 415), ("no fragment", 400), ("another state", 412),
                ("half a restart", 400), ("fragment to no session", 404), ("deleting no session", 404),
                ("look at no session", 404), ("look at the session", 204), ("look at the room", 200),
                ("methods of the room", 200), ("methods of the session", 200),
            ] {
                #expect(answers[what]?["status"] as? Int == status, "\(what)")
            }
            #expect(answers["putting"]?["allow"] as? String == "OPTIONS, GET, HEAD, POST")
            #expect(answers["look at the room"]?["type"] as? String == "application/sdp")
            #expect(answers["look at the session"]?["tag"] is String)
            #expect(answers["methods of the room"]?["post"] as? String == "application/sdp")
            #expect(answers["methods of the session"]?["patch"] as? String == "application/trickle-ice-sdpfrag")
            let count = player.events.count { $0["event"] as? String == "frame" }
            try player.event("frame") { $0["number"] as? Int ?? 0 > count + 10 }
            #expect(desktop.host.occurrences(of: "a player came") == 1)
        }

        @Test("without the token there is neither a picture nor a word about the room", .timeLimit(.minutes(5)))
        func wrongToken() throws {
            let desktop = try SharedDesktop()
            for token in ["", "wrong"] {
                let answered = try player(of: desktop, [], token: token).event("answered")
                #expect(answered["status"] as? Int == 401)
                #expect(answered["text"] as? String == "not allowed\n")
            }
        }
    }
}
