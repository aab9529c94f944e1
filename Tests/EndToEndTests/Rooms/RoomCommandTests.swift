import BrowserDriver
import Foundation
import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Who is in the rooms", .enabled(if: EndToEnd.isPossible && PythonClient.isAvailable))
    struct RoomCommands {
        private let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
        }

        private func host(_ options: [String] = []) throws -> RunningProgram {
            try RunningProgram.host("unix:" + folder.file("s.sock"), options)
        }

        /// The lines of a host with `--json`; each of them has to be a JSON object.
        private func events(_ host: RunningProgram) throws -> [JSONValue] {
            try host.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
                try JSONDecoder().decode(JSONValue.self, from: Data($0.utf8))
            }
        }

        private func event(
            _ name: String, of host: RunningProgram, where isWanted: (JSONValue) -> Bool = { _ in true }
        ) throws -> JSONValue {
            try eventually("'\(name)' in \(host.output) \(host.log)") {
                try events(host).first { $0["event"].string == name && isWanted($0) }
            }
        }

        private func guest(_ link: String, _ name: String) throws -> (client: PythonClient, id: String) {
            let client = try PythonClient("guest", in: .rtc, [link, name])
            return (client, try #require(try client.event("joined")["you"] as? String))
        }

        private func ask(_ words: [String], of host: RunningProgram) throws -> CommandLineRun {
            try CommandLineRun(["screenrelay"] + words + ["--pid", "\(host.child.processID)"])
        }

        @Test("programs are told who comes and leaves, and have somebody leave by name, identifier or its beginning")
        func programs() throws {
            let host = try host(["--json", "--room", "desk"])
            let started = try event("started", of: host)
            let link = try #require(started["links"][0].string)
            #expect(started["room"].string == "desk" && link.contains("/#desk,"))
            #expect(started["rooms"][0]["name"].string == "desk" && started["rooms"][0]["links"][0].string == link)

            let ann = try guest(link, "Ann")
            let came = try event("came", of: host)
            #expect(came["id"].string == ann.id && came["name"].string == "Ann" && came["kind"].string == "viewer")
            #expect(came["room"].string == "desk" && came["address"].string == "127.0.0.1" && came["watching"].int == 1)
            let bo = [try guest(link, "Bo \u{1B}[31m\"<b>"), try guest(link, "Bo \u{1B}[31m\"<b>")]
            _ = try event("came", of: host) { $0["watching"].int == 3 }

            var run = try ask(["rooms"], of: host)
            #expect(run.status == .exited(0) && run.output.hasPrefix("desk: screen waiting; 3 there\n  \(link)\n"))
            #expect(run.output.contains(ann.id) && run.output.contains("Ann") && !run.output.contains("\u{1B}"))
            run = try ask(["rooms", "--json"], of: host)
            let listed = try JSONDecoder().decode(JSONValue.self, from: Data(run.output.utf8))
            #expect(listed["process"].int == Int(host.child.processID))
            #expect(listed["rooms"][0]["links"][0].string == link)
            #expect(listed["rooms"][0]["members"][0]["id"].string == ann.id)
            #expect(listed["rooms"][0]["members"][2]["id"].string == bo[1].id)

            run = try ask(["remove", "aN"], of: host)
            #expect(run.status == .exited(0) && run.output == "viewer Ann (127.0.0.1) was removed from the room desk\n")
            #expect(try ann.client.event("closed")["code"] as? Int == 4410)
            let left = try event("left", of: host)
            #expect(left["id"].string == ann.id && left["watching"].int == 2)

            run = try ask(["remove", "Ann"], of: host)
            #expect(run.status == .exited(69) && run.errorLine?.contains("'Ann': no one in the rooms") == true)
            let name = try #require(listed["rooms"][0]["members"][1]["name"].string)
            run = try ask(["remove", name], of: host)
            #expect(run.status == .exited(64) && run.errorLine?.contains("matches 2 people") == true)
            // The beginning of the name, in capitals, means the same two, who are listed.
            run = try ask(["remove", "BO "], of: host)
            let line = try #require(run.errorLine)
            #expect(run.status == .exited(64) && bo.allSatisfy { line.contains("\($0.id) is viewer Bo ") }, "\(line)")
            // This is the shortest beginning that only one of the two identifiers has, and no name: names may begin
            // with "b".
            let other = bo[1].id
            let same = zip(bo[0].id, other).prefix { $0 == $1 }.count
            run = try ask(["remove", String(bo[0].id.prefix(max(same + 1, 2)))], of: host)
            #expect(run.status == .exited(0), "\(run.errorOutput)")
            #expect(try bo[0].client.event("closed")["code"] as? Int == 4410)

            #expect(host.stop() == .exited(0))
            #expect(try event("ended", of: host)["exitCode"].int == 0)
            let all = try events(host)
            #expect(all.allSatisfy { ($0["time"].string ?? "").hasSuffix("Z") })
            #expect(all.count { $0["event"].string == "left" } == 3)
        }

        @Test("publishers, callers and clients of SkyRTC are removed like viewers, and publishers may come back")
        func others() throws {
            let host = try host(["--presenters"])
            let parts = LinkParts(try host.printedLink())
            let token = try host.presentersToken()
            func publisher() throws -> PythonClient {
                try PythonClient("whip_publisher", in: .rtc, ["\(parts.base)/whip/\(parts.room)", token])
            }
            /// Removes who is there as `kind`.
            func remove(_ kind: String) throws {
                let listed = try JSONDecoder().decode(
                    JSONValue.self, from: Data(try ask(["rooms", "--json"], of: host).output.utf8))
                let members = listed["rooms"][0]["members"].array ?? []
                let id = try #require(members.first { $0["kind"].string == kind }?["id"].string, "\(members)")
                let run = try ask(["remove", id], of: host)
                #expect(run.status == .exited(0) && run.output.hasPrefix(kind), "\(run.output) \(run.errorOutput)")
                #expect(try !ask(["rooms"], of: host).output.contains(id))
            }
            let room = "\(parts.room),\(parts.token)"
            let sender = try publisher()
            try sender.event("connected")
            let caller = try PythonClient(
                "socketio_client", in: .socketio5,
                ["--url", parts.base, "--room", room, "--transport", "websocket"])
            try caller.event("frame")
            let member = try PythonClient("skyrtc_client", in: .rtc, ["ws" + parts.base.dropFirst(4) + "/ws", room])
            try member.event("video")
            try remove("caller")
            try caller.event("leaved")
            try remove("client")
            #expect(try member.event("closed")["code"] as? Int == 4410)
            try remove("publisher")
            try sender.event("closed")
            let other = try publisher()
            try other.event("connected")
            #expect(host.stop() == .exited(0))
        }

        @Test("commands lock a room, and admit or refuse who waits, by the whole name, the identifier or all")
        func doors() throws {
            let host = try host(["--json", "--waiting-room", "--track", "attic/screen=unix:" + folder.file("t.sock")])
            let started = try event("started", of: host)
            let link = try #require(started["links"][0].string)
            func knock(_ name: String) throws -> PythonClient {
                let client = try PythonClient("guest", in: .rtc, [link, name])
                try client.event("waiting")
                return client
            }
            // Its name must not begin another line of the status, nor write to the terminal.
            let eve = try knock("Eve; link: http://evil/#a\u{1B}[2J")
            let (ann, anna) = (try knock("Ann"), try knock("Ann"))
            let id = try #require(try event("knocked", of: host) { $0["name"].string == "Ann" }["id"].string)
            var run = try ask(["status"], of: host)
            #expect(run.output.contains("\n  waiting: Eve; link: http://evil/#a"), "\(run.output)")
            #expect(run.output.contains(", Ann (127.0.0.1), Ann (127.0.0.1)"), "\(run.output)")
            #expect(run.output.ranges(of: "link: ").count == 2 && run.output.contains("\n  link: \(link)"))
            run = try ask(["status", "--json"], of: host)
            let status = try JSONDecoder().decode(JSONValue.self, from: Data(run.output.utf8))
            #expect(status["waiting"].int == 3 && status["waitingClients"][1]["id"].string == id)
            run = try ask(["rooms"], of: host)
            #expect(run.output.contains("WAITING") && run.output.contains(id) && run.output.contains("no viewers"))

            run = try ask(["admit", "An"], of: host)
            #expect(run.status == .exited(69) && run.errorOutput.contains("'An': no one of that name waits"))
            run = try ask(["admit", "Ann"], of: host)
            #expect(run.status == .exited(64) && run.errorOutput.contains("'Ann' matches 2 people"))
            #expect(run.errorOutput.contains("\(id) is Ann (127.0.0.1)"), "\(run.errorOutput)")
            run = try ask(["refuse", id], of: host)
            #expect(run.status == .exited(0) && run.output == "Ann (127.0.0.1) was refused\n", "\(run.errorOutput)")
            let refused = try eventually("the refusal") {
                [ann, anna].first { $0.events.contains { $0["event"] as? String == "closed" } }
            }
            #expect(try refused.event("closed")["code"] as? Int == 4424)
            run = try ask(["admit", "Ann"], of: host)
            #expect(run.status == .exited(0) && run.output == "Ann (127.0.0.1) was let in\n", "\(run.errorOutput)")
            run = try ask(["admit", "all"], of: host)
            #expect(run.status == .exited(0) && run.output == "1 person was let in\n", "\(run.errorOutput)")
            try eve.event("joined")
            run = try ask(["refuse", "all"], of: host)
            #expect(run.status == .exited(69) && run.errorOutput.contains("no one waits to be let in"))

            run = try ask(["lock", "cellar"], of: host)
            #expect(run.status == .exited(69) && run.errorOutput.contains("no room is called 'cellar'"))
            for (words, locked) in [
                (["lock"], ["screen", "attic"]), (["unlock", "screen"], ["attic"]), (["unlock"], []),
            ] {
                run = try ask(words, of: host)
                #expect(run.status == .exited(0) && run.output == "\(words[0])ed\n", "\(run.errorOutput)")
                run = try ask(["status"], of: host)
                let text = "locked: \(locked.joined(separator: ", "))"
                #expect(run.output.contains(text) != locked.isEmpty, "\(run.output)")
                #expect(try ask(["rooms"], of: host).output.ranges(of: "; locked\n").count == locked.count)
                if locked.contains("screen") {
                    let late = try PythonClient("guest", in: .rtc, [link, "Late"])
                    #expect(try late.event("closed")["code"] as? Int == 4423)
                }
            }
        }

        @Test("programs are told what is written in the chat, and commands switch it off and on")
        func chat() throws {
            let host = try host(["--json", "--room", "desk"])
            let ann = try guest(try #require(try event("started", of: host)["links"][0].string), "Ann")
            try ann.client.tell("chat <b>\u{1B}[2JOne\"</b>")
            let message = try event("chat", of: host)
            #expect(message["room"].string == "desk" && message["id"].string == ann.id)
            #expect(message["name"].string == "Ann" && message["text"].string == "<b>[2JOne\"</b>")
            for (word, isOn) in [("off", false), ("on", true)] {
                let run = try ask(["chat", word], of: host)
                #expect(run.status == .exited(0) && run.output == "chat \(word)\n", "\(run.errorOutput)")
                #expect(try ask(["status"], of: host).output.contains("; chat off") != isOn)
                let status = try ask(["status", "--json"], of: host).output
                #expect(try JSONDecoder().decode(JSONValue.self, from: Data(status.utf8))["chat"] == .bool(isOn))
            }
            try ann.client.tell("chat Two")
            _ = try event("chat", of: host) { $0["text"].string == "Two" }
            #expect(try events(host).count { $0["event"].string == "chat" } == 2)
        }

        @Test("links are printed again, with a code where that is asked for, and programs get the presenters' token")
        func links() throws {
            let host = try host(["--json", "--presenters", "--track", "attic/screen=unix:" + folder.file("t.sock")])
            let started = try event("started", of: host)
            let links = try (0...1).map { try #require(started["rooms"][$0]["links"][0].string) }
            let token = try #require(started["rooms"][0]["presenting"]["token"].string)
            let url = try #require(started["rooms"][1]["presenting"]["url"].string)
            #expect(links[0].contains("/#screen,") && links[1].contains("/#attic,") && url.hasSuffix("/whip/attic"))

            var run = try ask(["link"], of: host)
            let lines = run.output.split(separator: "\n").map(String.init)
            #expect(run.status == .exited(0))
            try #require(lines.count == 6)
            #expect(lines.prefix(2) == [links[0], "The room attic: \(links[1])"])
            let place = links[0].prefix { $0 != "," }
            #expect(lines[2] == "Presenters: \(place),\(token)")
            #expect(lines[3].hasPrefix("To publish: WHIP to ") && lines[3].hasSuffix(token))
            #expect(lines[4].hasPrefix("Presenters: ") && lines[4].contains("/#attic,"))
            run = try ask(["link", "--qr"], of: host)
            #expect(run.output.hasPrefix(links[0] + "\n") && run.output.contains("▀▀"))
            #expect(try ask(["link", "--qr", "--json"], of: host).status == .exited(64))
            run = try ask(["status"], of: host)
            #expect(run.output.contains("\n  link: \(links[0])\n"), "\(run.output)")
            #expect(run.output.contains("; 0 viewers, counted for each track; track attic/screen: "), "\(run.output)")
            // The host has no home for the token, and says so.
            #expect(run.output.contains("\n  /api: none, because its token has no file (--admin-token-file)\n"))
            run = try ask(["rooms"], of: host)
            #expect(links.allSatisfy { run.output.contains("\n  \($0)\n") }, "\(run.output)")
        }

        @Test("people read a line for each who comes and leaves, and names can't write to their terminal")
        func people() throws {
            let host = try host()
            let link = try host.printedLink()
            let evil = try guest(link, "A\u{202E}nn\u{7}\n")
            let ann = try guest(link, "Ann")
            _ = try eventually("both in \(host.output)") { host.output.contains("2 watch\n") ? () : nil }
            #expect(try ask(["remove", ann.id], of: host).status == .exited(0))
            let lines = try eventually("the end in \(host.output)") { () -> [Substring]? in
                let lines = host.output.split(separator: "\n").dropFirst(2)
                return lines.count == 3 ? Array(lines) : nil
            }
            #expect(lines[1].dropFirst(8) == " viewer Ann (127.0.0.1) came; 2 watch")
            #expect(lines[2].dropFirst(8) == " viewer Ann (127.0.0.1) left; 1 watches")
            #expect(lines.allSatisfy { line in line.prefix(8).split(separator: ":").count == 3 })
            #expect(!host.output.unicodeScalars.contains { $0 == "\u{202E}" || $0 == "\u{7}" })
            // It isn't reported that all leave at the end.
            #expect(host.stop() == .exited(0))
            #expect(host.output.split(separator: "\n").count == 5)
            _ = evil
        }
    }
}
