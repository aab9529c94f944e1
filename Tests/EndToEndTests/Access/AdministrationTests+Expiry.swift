import MediaTypes
import Processes
import TestSupport
import Testing

/// What `/api` tells of links that end.
extension EndToEnd.AdministrationInterface {
    @Test("the end of the links is foretold, told when it comes, and everything says since when they are over")
    func expiry() throws {
        let file = folder.file("admin")
        // A busy machine may not open the WebSocket within the shortest time.
        for seconds in [4, 8, 16, 32] {
            let host = try RunningProgram.host(
                "unix:" + folder.file("s.sock"), ["--expires", "\(seconds)s", "--admin-token-file", file])
            defer { host.stop() }
            let client = try client(of: try host.printedLink())
            #expect(host.output.contains("\nThe invite links end at 20"))
            try tell(["method": "EVENTS", "path": "/api/events", "headers": try token(in: file)], client)
            try client.event("open")
            if host.output.contains("have expired") { continue }
            let told = try client.event("message", within: .seconds(Int64(seconds) + 10)) {
                ($0["told"] as? [String: Any])?["event"] as? String == "expired"
            }
            #expect(told["problems"] as? [String] == [], "\(told)")
            try eventually(
                "a line that says so",
                holds: { host.output.contains(" the invite links of the room screen have expired\n") })
            let words = ["screenrelay", "status", "--pid", "\(host.child.processID)"]
            #expect(try CommandLineRun(words).output.contains("; invite links ended at 20"))
            let json = try CommandLineRun(words + ["--json"]).output
            #expect(json.firstMatch(of: /"expires":"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ"/) != nil, "\(json)")
            // Nobody is led to a link that no longer works.
            let process = "\(host.child.processID)"
            let rooms = try CommandLineRun(["screenrelay", "rooms", "--pid", process])
            #expect(rooms.output.contains("\nThe invite links ended at 20"), "\(rooms.output)\(rooms.errorOutput)")
            let link = try CommandLineRun(["screenrelay", "link", "--qr", "--pid", process])
            #expect(link.output.contains("\nThe invite links ended at 20"), "\(link.output)")
            #expect(!link.output.contains("▀▀"))
            return
        }
        Issue.record("the links were over before anybody could hear of it, even of 32 s")
    }
}
