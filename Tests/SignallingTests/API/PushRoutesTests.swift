import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("Pushes over HTTP")
struct PushRoutesTests {
    private let admin = ["Authorization": "Bearer master"]
    private let json = ["Authorization": "Bearer master", "Content-Type": "application/json"]
    private let commands = CommandAnswers()

    private func server() throws -> RunningServer {
        try RunningServer {
            $0.administration = Administration(token: "master", allowsNetwork: false)
            $0.commands = commands
        }
    }

    @Test("each request is one command, and its answer has what the command's has")
    func lines() throws {
        let lines = Mutex<[String]>([])
        let server = try server()
        commands.use { command in
            lines.withLock { $0.append(command.json) }
            return switch command {
            case .push(.list): .document("{\"pushes\":[]}")
            case .push(.add): .done("it's added", made: 7)
            default: .done("it's done")
            }
        }
        for (method, path, body, order, status, text) in [
            ("GET", "", nil, .list, 200, "{\"pushes\":[]}"),
            (
                "POST", "", "{\"url\":\"rtmp://h/app/key?a=b;c\"}", .add(url: "rtmp://h/app/key?a=b;c", preset: nil),
                201,
                "{\"done\":\"it's added\",\"id\":7}"
            ),
            (
                "POST", "", "{\"preset\":\"low1,fps=3\",\"url\":\"srt://h:1\"}",
                .add(url: "srt://h:1", preset: "low1,fps=3"), 201, "{\"done\":\"it's added\",\"id\":7}"
            ),
            ("DELETE", "/7", nil, .stop(7), 200, "{\"done\":\"it's done\"}"),
            ("POST", "/64/restart", nil, .restart(64), 200, "{\"done\":\"it's done\"}"),
            ("POST", "/2/reload", "{\"preset\":\"low1\"}", .reload(2, preset: "low1"), 200, "{\"done\":\"it's done\"}"),
            ("POST", "/2/reload", "{}", .reload(2, preset: nil), 200, "{\"done\":\"it's done\"}"),
        ] as [(String, String, String?, ControlCommand.PushOrder, Int, String)] {
            let line = ControlCommand.push(order).json
            let headers = body == nil ? admin : json
            let answer = try server.request(method, "/api/pushes\(path)", headers, body: body)
            #expect(answer.status == status && answer.text == text, "\(line): \(answer.text)")
            #expect(lines.withLock { $0.last } == line)
            #expect(try server.request(method, "/api/pushes\(path)", body: body).status == 401)
        }
        #expect(lines.withLock { $0.count } == 7)
    }

    @Test("a refusal's status says what it is due to")
    func refusals() throws {
        let server = try server()
        for (refusal, status) in [(.notNow, 409), (.missing, 404), (.invalid, 422)] as [(ControlAnswer.Refusal, Int)] {
            commands.use { _ in .refused("no", refusal) }
            for (method, path, body) in [
                ("POST", "", "{\"url\":\"srt://h:1\"}"), ("DELETE", "/1", nil), ("POST", "/1/restart", nil),
                ("POST", "/1/reload", "{}"),
            ] as [(String, String, String?)] {
                let answer = try server.request(method, "/api/pushes\(path)", json, body: body)
                #expect(answer.status == status && answer.text == "{\"error\":\"no\"}")
            }
        }
    }

    @Test(
        "a body that isn't understood is no command, whatever words are in it",
        arguments: [
            "", "{", "[]", "{}", "{\"url\":3}", "{\"url\":null}", "{\"url\":\"\"}", "{\"url\":\"srt://h:1 Sesam\"}",
            "{\"url\":\"srt://h:1\\npush stop 1\"}", "{\"url\":\"srt://h:1\\u0085\"}",
            "{\"url\":\"srt://h:1\",\"preset\":\"low1 x\"}",
            "{\"url\":\"srt://h:1\",\"preset\":\"\"}", "{\"url\":\"srt://h:1\",\"name\":\"desk\"}",
            "{\"preset\":\"low1\"}", String(repeating: "[", count: 60_000),
        ])
    func bodies(_ body: String) throws {
        let server = try server()
        commands.use { command in
            Issue.record("it was carried out: \(command)")
            return .done("")
        }
        let answer = try server.request("POST", "/api/pushes", json, body: body)
        #expect(answer.status == 400 && answer.text.contains("send a JSON object"), "\(answer.text)")
        #expect(!answer.text.contains("Sesam"))
        #expect(try server.request("POST", "/api/pushes", admin, body: "{\"url\":\"srt://h:1\"}").status == 415)
        #expect(try server.request("POST", "/api/pushes/1/reload", json, body: "{\"url\":\"srt://h:1\"}").status == 400)
    }

    @Test("no file is written for it, and what isn't a push's number or action is not found")
    func paths() throws {
        let server = try server()
        commands.use { command in
            Issue.record("it was carried out: \(command)")
            return .done("")
        }
        for url in ["file:talk.mp4", "FILE:///srv/talk.mkv", "object:live.json"] {
            #expect(try server.request("POST", "/api/pushes", json, body: "{\"url\":\"\(url)\"}").status == 422)
        }
        for id in ["0", "01", "-1", "+1", "x", "1%202", "99999999999999999999"] {
            #expect(try server.request("DELETE", "/api/pushes/\(id)", admin).status == 404, "\(id)")
            #expect(try server.request("POST", "/api/pushes/\(id)/reload", json, body: "{}").status == 404, "\(id)")
        }
        #expect(try server.request("POST", "/api/pushes/1/begin", admin).status == 404)
        #expect(try server.request("POST", "/api/pushes/1/reload/2", admin).status == 404)
        for (method, path, allowed) in [
            ("DELETE", "", "GET, HEAD, POST"), ("GET", "/1", "DELETE"), ("GET", "/1/restart", "POST"),
            ("PUT", "/1/reload", "POST"),
        ] {
            let answer = try server.request(method, "/api/pushes\(path)", admin)
            #expect(answer.status == 405 && answer.headers["allow"] == allowed)
        }
    }
}
