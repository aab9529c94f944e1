import BrowserDriver
import Foundation
import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite(
        "The administration's interface and its OpenAPI document",
        .enabled(if: EndToEnd.isPossible && PythonClient.isAvailable && PythonClient.isAvailable(.openapi)))
    struct AdministrationInterface {
        let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
        }

        /// A request, and the expected status of its answer.
        private struct Request {
            let method: String
            let path: String
            var headers: [String: String]
            var body: [String: Any]?
            let status: Int
        }

        func tell(_ request: [String: Any], _ client: PythonClient) throws {
            try client.tell(String(decoding: try JSONSerialization.data(withJSONObject: request), as: UTF8.self))
        }

        /// Makes the requests one after another, expects each answer to be right and to match the document, and returns
        /// the bodies.
        @discardableResult
        private func ask(_ requests: [Request], _ client: PythonClient) throws -> [JSONValue] {
            try requests.map { request in
                let number = client.events.count { $0["event"] as? String == "answer" }
                var wanted: [String: Any] = [
                    "method": request.method, "path": request.path, "headers": request.headers,
                ]
                wanted["body"] = request.body
                try tell(wanted, client)
                let answer = try eventually("answer \(number) to \(request): \(client.child.errorOutput?.text ?? "")") {
                    let answers = client.events.filter { $0["event"] as? String == "answer" }
                    return answers.count > number ? answers[number] : nil
                }
                #expect(answer["status"] as? Int == request.status, "\(request): \(answer)")
                #expect(answer["problems"] as? [String] == [], "\(request): \(answer)")
                let body = answer["body"] as? String ?? ""
                return try body.isEmpty ? .null : JSONDecoder().decode(JSONValue.self, from: Data(body.utf8))
            }
        }

        func token(in file: String) throws -> [String: String] {
            let text = String(decoding: try fileBytes(file), as: UTF8.self)
            return ["Authorization": "Bearer \(text.split(separator: "\n")[0])"]
        }

        func client(of link: String) throws -> PythonClient {
            let base = String(link.prefix { $0 != "#" }.dropLast())
            let client = try PythonClient(
                "administration", in: .openapi, ["\(packageRoot)/Protocol/openapi.yaml", base])
            try client.event("ready")
            return client
        }

        @Test("every answer, of success and of each refusal, is as the document says")
        func document() throws {
            let file = folder.file("admin")
            let host = try RunningProgram.host("unix:" + folder.file("s.sock"), ["--admin-token-file", file])
            let link = try host.printedLink()
            var status = stat()
            #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
            let guest = try PythonClient("guest", in: .rtc, [link, "Ann"])
            let id = try #require(try guest.event("joined")["you"] as? String)
            let client = try client(of: link)
            let admin = try token(in: file)
            var requests = [
                Request(method: "GET", path: "/api/rooms", headers: admin, status: 200),
                Request(method: "GET", path: "/api/rooms/screen", headers: admin, status: 200),
                Request(method: "GET", path: "/api/rooms/attic", headers: admin, status: 404),
                Request(method: "GET", path: "/api/rooms", headers: [:], status: 401),
                Request(method: "GET", path: "/api/rooms/screen", headers: ["Authorization": "Bearer x"], status: 401),
                Request(method: "DELETE", path: "/api/rooms/screen/members/\(id)", headers: [:], status: 401),
                Request(
                    method: "GET", path: "/api/rooms", headers: admin.merging(["Origin": "https://example.org"]) { $1 },
                    status: 403),
                Request(method: "DELETE", path: "/api/rooms/attic/members/\(id)", headers: admin, status: 404),
                Request(method: "POST", path: "/api/rooms", headers: admin, status: 405),
                Request(method: "DELETE", path: "/api/rooms/screen", headers: admin, status: 405),
                Request(method: "PUT", path: "/api/rooms/screen/members/\(id)", headers: admin, status: 405),
                Request(method: "GET", path: "/api/elsewhere", headers: admin, status: 404),
                Request(
                    method: "POST", path: "/api/rooms/screen/members/\(id)/turn/allow", headers: admin, status: 409),
                Request(
                    method: "POST", path: "/api/rooms/screen/members/\(id)/turn/pass", headers: admin, status: 404),
                Request(
                    method: "POST", path: "/api/rooms/screen/members/\(id)/turn/end?seconds=1", headers: admin,
                    status: 400),
                Request(method: "GET", path: "/api/rooms/screen/members/\(id)/turn/end", headers: admin, status: 405),
                Request(method: "POST", path: "/api/rooms/screen/lock", headers: [:], status: 401),
                Request(method: "POST", path: "/api/rooms/screen/lock", headers: admin, status: 204),
                Request(method: "GET", path: "/api/rooms/screen", headers: admin, status: 200),
                Request(method: "POST", path: "/api/rooms/screen/unlock", headers: admin, status: 204),
                Request(method: "POST", path: "/api/rooms/attic/lock", headers: admin, status: 404),
                Request(method: "GET", path: "/api/rooms/screen/lock", headers: admin, status: 405),
                Request(method: "POST", path: "/api/rooms/screen/waiting/admit", headers: admin, status: 204),
                Request(method: "POST", path: "/api/rooms/screen/waiting/\(id)/refuse", headers: admin, status: 409),
                Request(method: "POST", path: "/api/rooms/screen/waiting/\(id)/allow", headers: admin, status: 404),
                Request(method: "DELETE", path: "/api/rooms/screen/members/\(id)", headers: admin, status: 204),
                Request(method: "GET", path: "/api/events", headers: admin, status: 426),
                Request(method: "POST", path: "/api/events", headers: admin, status: 405),
            ]
            for (method, name, other) in [
                ("GET", "status", "POST"), ("GET", "link", "DELETE"), ("POST", "pause", "GET"), ("POST", "stop", "GET"),
            ] {
                requests += [
                    Request(method: method, path: "/api/\(name)", headers: [:], status: 401),
                    Request(method: other, path: "/api/\(name)", headers: admin, status: 405),
                ]
            }
            requests.append(Request(method: "POST", path: "/api/sharpen", headers: admin, status: 409))
            try ask(requests, client)
            #expect(try guest.event("closed")["code"] as? Int == 4410)
            #expect(host.child.poll() == nil)
        }

        @Test("a share is steered as by the commands, what makes no sense is refused, and all that happens is told")
        func steering() throws {
            let file = folder.file("admin")
            let desktop = try SharedDesktop(options: ["--fps", "30", "--admin-token-file", file, "--presenters"])
            let client = try client(of: desktop.link)
            let admin = try token(in: file)
            func command(_ name: String, _ status: Int = 200, _ body: [String: Any]? = nil) throws -> JSONValue {
                try ask(
                    [Request(method: "POST", path: "/api/\(name)", headers: admin, body: body, status: status)], client)[
                        0]
            }
            func read(_ name: String) throws -> JSONValue {
                try ask([Request(method: "GET", path: "/api/\(name)", headers: admin, status: 200)], client)[0]
            }
            func told(_ event: String, where isWanted: ([String: Any]) -> Bool = { _ in true }) throws {
                let message = try client.event("message") { message in
                    guard let told = message["told"] as? [String: Any], told["event"] as? String == event else {
                        return false
                    }
                    return isWanted(told)
                }
                #expect(message["problems"] as? [String] == [], "\(message)")
            }
            try tell(["method": "EVENTS", "path": "/api/events", "headers": admin], client)
            try client.event("open")

            let process = "\(desktop.host.child.processID)"
            let status = try read("status")
            #expect(status["process"].int == Int(process) && status["links"][0].string == desktop.link)
            #expect(status["api"]["tokenFile"].string == file)
            let link = try read("link")
            #expect(link["links"][0].string == desktop.link)
            #expect(link["rooms"][0]["presenting"]["token"].string == (try desktop.host.presentersToken()))
            // The control socket gives the same.
            let run = try CommandLineRun(["screenrelay", "link", "--json", "--pid", process])
            let line = try JSONDecoder().decode(JSONValue.self, from: Data(run.output.utf8))
            #expect(line["links"][0].string == desktop.link && line["process"].int == Int(process))

            #expect(try command("pause")["done"].string == "paused")
            try told("state") { $0["state"] as? String == "paused" }
            #expect(try read("status")["state"].string == "paused")
            #expect(try command("resume")["done"].string == "resumed")
            try told("state") { $0["state"] as? String == "live" }
            #expect(try command("mute")["done"].string == "muted; no sound is being captured")
            try told("sound") { $0["muted"] as? Bool == true }
            #expect(try read("status")["muted"] == .bool(true))
            #expect(try command("unmute")["done"].string == "unmuted; no sound is being captured")
            try told("sound") { $0["muted"] as? Bool == false }
            #expect(try command("pointing-off")["done"].string == "pointing off")
            #expect(try read("status")["pointing"] == .bool(false))
            #expect(try command("pointing-on")["done"].string == "pointing on")
            #expect(try read("status")["chat"] == .bool(true))
            #expect(try command("chat-off")["done"].string == "chat off")
            #expect(try read("status")["chat"] == .bool(false))
            #expect(try command("chat-on")["done"].string == "chat on")
            #expect(try command("sharpen")["done"].string == "sharpening")
            let above = try command("rate", 200, ["fps": 60, "bitrate": 600_000])["done"].string
            #expect(above?.hasPrefix("at most 30 fps and 600 kbit/s; ") == true, "\(above ?? "")")
            #expect(try read("status")["maxPicturesPerSecond"].int == 30)
            for body: [String: Any] in [[:], ["fps": 0], ["fps": "fast"], ["size": 3], ["bitrate": 1]] {
                _ = try command("rate", 400, body)
            }
            #expect(
                try command("rate", 200, ["fps": "max", "bitrate": "max"])["done"].string == "as capture was started")

            let guest = try PythonClient("guest", in: .rtc, [desktop.link, "Ann"])
            _ = try guest.event("joined")
            try told("came") { $0["name"] as? String == "Ann" }
            _ = guest.child.stop()
            try told("left") { $0["name"] as? String == "Ann" }

            #expect(try command("stop")["done"].string == "stopping")
            #expect(try client.event("closed")["code"] as? Int == 1001)
            #expect(try eventually("the end", { desktop.host.child.poll() }) == .exited(0))
        }

        @Test("pushes are added, listed, changed and stopped, and neither an answer nor the log has the key of one")
        func pushes() throws {
            let file = folder.file("admin")
            let host = try RunningProgram.host(
                "unix:" + folder.file("s.sock"), ["--admin-token-file", file, "--log", "debug"])
            let client = try client(of: try host.printedLink())
            let admin = try token(in: file)
            @discardableResult
            func ask(
                _ method: String, _ path: String, _ status: Int, _ body: [String: Any]? = nil
            ) throws -> JSONValue {
                let request = Request(
                    method: method, path: "/api/pushes" + path, headers: admin, body: body, status: status)
                return try self.ask([request], client)[0]
            }
            #expect(try ask("GET", "", 200)["pushes"].array?.isEmpty == true)
            let server = "rtmp://127.0.0.1:\(try freePort())/live/"
            #expect(try ask("POST", "", 201, ["url": server + "Sesam"])["id"].int == 1)
            let film = ["url": "rtsp://127.0.0.1:9/desk,track=film", "preset": "low1"]
            #expect(try ask("POST", "", 201, film)["id"].int == 2)
            let listed = try ask("GET", "", 200)["pushes"]
            #expect(listed.array?.count == 2 && listed[0]["to"].string == server + "...")
            // The control socket gives the same.
            func printed() throws -> [JSONValue] {
                let words = ["screenrelay", "push", "list", "--json", "--pid", "\(host.child.processID)"]
                let output = try CommandLineRun(words).output
                return try JSONDecoder().decode(JSONValue.self, from: Data(output.utf8))["pushes"].array ?? []
            }
            #expect(try printed().map { $0["to"] } == listed.array?.map { $0["to"] })
            try eventually("it waits", holds: { try ask("GET", "", 200)["pushes"][1]["state"].string == "waiting" })
            #expect(listed[1]["track"].string == "film" && listed[1]["to"].string == "rtsp://127.0.0.1:9/...")

            try ask("POST", "/1/reload", 200, ["preset": "low2"])
            try ask("POST", "/1/reload", 200, [:])
            try ask("POST", "/1/restart", 200)
            for id in 1...2 { try ask("DELETE", "/\(id)", 200) }
            try eventually(
                "they have ended", holds: { try printed().allSatisfy { $0["state"].string == "disconnected" } })
            #expect(try ask("GET", "", 200)["pushes"].array?.count == 2)
            let bodies: [[String: Any]] = [
                [:], ["url": 3], ["url": server + "Sesam key"], ["url": server + "Sesam", "name": "desk"],
                ["url": server + "Sesam", "preset": ""],
            ]
            for body in bodies { try ask("POST", "", 400, body) }
            for url in ["http://live.example/app/Sesam", "live.example/Sesam", "file:" + folder.file("talk.mp4")] {
                try ask("POST", "", 422, ["url": url])
            }
            try ask("POST", "", 422, ["url": server + "Sesam", "preset": "huge"])
            try ask("POST", "/1/reload", 422, ["preset": "huge"])
            try ask("POST", "/2/reload", 422, ["preset": "low1,adapt=64k"])
            try ask("POST", "/1/reload", 400, ["preset": "low1 low2"])
            try ask("POST", "/1/reload", 415)
            for (method, path) in [("DELETE", "/7"), ("POST", "/7/restart"), ("DELETE", "/x")] {
                try ask(method, path, 404)
            }
            try ask("POST", "/7/reload", 404, ["preset": "low1"])
            for (method, path) in [("DELETE", ""), ("GET", "/1"), ("GET", "/1/restart"), ("PUT", "/1/reload")] {
                try ask(method, path, 405)
            }
            try self.ask([Request(method: "POST", path: "/api/pushes", headers: [:], status: 401)], client)
            for text in [client.child.output?.text ?? "", host.log, host.output] { #expect(!text.contains("Sesam")) }
            #expect(host.log.contains(#"/api: {"command":"push-add","url":"..."}"#))
        }
    }
}
