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
        private func answer(
            _ method: String, _ path: String, _ headers: [String: String], _ client: PythonClient, number: Int
        ) throws -> [String: Any] {
            let request: [String: Any] = ["method": method, "path": path, "headers": headers]
            let line = String(decoding: try JSONSerialization.data(withJSONObject: request), as: UTF8.self)
            try client.tell(line)
            return try eventually("answer \(number) to \(line): \(client.child.errorOutput?.text ?? "")") {
                let answers = client.events.filter { $0["event"] as? String == "answer" }
                return answers.count > number ? answers[number] : nil
            }
        }

        @Test("every answer, of success and of each refusal, is as the document says")
        func document() throws {
            let folder = try TemporaryFolder()
            let file = folder.file("admin")
            let host = try RunningProgram.host("unix:" + folder.file("s.sock"), ["--admin-token-file", file])
            let link = try host.printedLink()
            var status = stat()
            #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
            let token = String(decoding: try fileBytes(file), as: UTF8.self).split(separator: "\n")[0]
            let base = String(link.prefix { $0 != "#" }.dropLast())
            let guest = try PythonClient("guest", in: .rtc, [link, "Ann"])
            let id = try #require(try guest.event("joined")["you"] as? String)
            let client = try PythonClient(
                "administration", in: .openapi, ["\(packageRoot)/Protocol/openapi.yaml", base])
            try client.event("ready")

            let admin = ["Authorization": "Bearer \(token)"]
            let requests: [(method: String, path: String, headers: [String: String], status: Int)] = [
                ("GET", "/api/rooms", admin, 200), ("GET", "/api/rooms/screen", admin, 200),
                ("GET", "/api/rooms/attic", admin, 404), ("GET", "/api/rooms", [:], 401),
                ("GET", "/api/rooms/screen", ["Authorization": "Bearer x"], 401),
                ("DELETE", "/api/rooms/screen/members/\(id)", [:], 401),
                ("GET", "/api/rooms", admin.merging(["Origin": "https://example.org"]) { $1 }, 403),
                ("DELETE", "/api/rooms/attic/members/\(id)", admin, 404),
                ("POST", "/api/rooms", admin, 405), ("DELETE", "/api/rooms/screen", admin, 405),
                ("PUT", "/api/rooms/screen/members/\(id)", admin, 405), ("GET", "/api/elsewhere", admin, 404),
                ("DELETE", "/api/rooms/screen/members/\(id)", admin, 204),
            ]
            for (number, request) in requests.enumerated() {
                let answer = try answer(request.method, request.path, request.headers, client, number: number)
                #expect(answer["status"] as? Int == request.status, "\(request): \(answer)")
                #expect(answer["problems"] as? [String] == [], "\(request): \(answer)")
            }
            #expect(try guest.event("closed")["code"] as? Int == 4410)
        }
    }
}
