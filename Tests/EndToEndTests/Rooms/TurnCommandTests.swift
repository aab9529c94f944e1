import Glibc
import MediaTypes
import Processes
import ScreenRelayKit
import Signalling
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Commands about turns to present", .enabled(if: EndToEnd.isPossible && PythonClient.isAvailable))
    struct TurnCommands {
        private let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
        }

        private func host(_ options: [String]) throws -> RunningProgram {
            try RunningProgram.host("unix:" + folder.file("s.sock"), options)
        }

        private func guest(_ link: String, _ name: String) throws -> (client: PythonClient, id: String) {
            let client = try PythonClient("guest", in: .rtc, [link, name])
            return (client, try #require(try client.event("joined")["you"] as? String))
        }

        private func ask(_ words: [String], of host: RunningProgram) throws -> CommandLineRun {
            try CommandLineRun(["screenrelay"] + words + ["--pid", "\(host.child.processID)"])
        }

        @Test("commands allow and decline a viewer's request and end its turn, by its own name and not a similar one")
        func turns() throws {
            let host = try host(["--presenters"])
            let link = try host.printedLink()
            let (ann, anna, anni) = (try guest(link, "Ann"), try guest(link, "Anna"), try guest(link, "Anni"))
            func present(_ words: String...) throws -> CommandLineRun { try ask(["present"] + words, of: host) }
            func askToPresent(_ viewer: PythonClient, count: Int = 1) throws {
                try viewer.tell("ask")
                try eventually(
                    "the request",
                    holds: { try ask(["rooms"], of: host).output.ranges(of: "viewer (asked)").count == count })
            }
            try askToPresent(anni.client)
            var run = try present("allow", "Ann")
            #expect(run.status == .exited(69), "\(run.output)")
            #expect(run.errorOutput.contains("'Ann': no one of that name has asked to present"), "\(run.errorOutput)")
            run = try present("decline", "Anni")
            #expect(run.status == .exited(0) && run.output == "viewer Anni (127.0.0.1) may not present\n")
            let declined = try anni.client.event("turn") { $0["turn"] as? String == "none" }
            #expect(declined["wait"] as? Int == 30)
            try askToPresent(anna.client)
            run = try present("allow", String(anna.id.prefix(12)), "--for", "1h")
            #expect(run.status == .exited(0) && run.output == "viewer Anna (127.0.0.1) may present\n")
            let granted = try anna.client.event("turn") { $0["turn"] as? String == "granted" }
            #expect(granted["left"] as? Int == 3600)
            #expect(try ask(["rooms"], of: host).output.contains("viewer (granted)"))
            run = try present("end", "anna")
            #expect(run.status == .exited(0) && run.output == "viewer Anna (127.0.0.1) no longer presents\n")
            run = try present("end", "Anna")
            #expect(run.status == .exited(69) && run.errorOutput.contains("no one of that name may present"))
            // A second is the shortest time.
            try askToPresent(anna.client)
            run = try present("allow", "Anna", "--for", "1s")
            #expect(run.status == .exited(0), "\(run.errorOutput)")
            try eventually(
                "the end of the turn",
                holds: { try ask(["rooms"], of: host).output.ranges(of: "viewer (").isEmpty })
            try askToPresent(ann.client)
            try askToPresent(anna.client, count: 2)
            run = try present("allow", "an")
            #expect(run.status == .exited(64) && run.errorOutput.contains("'an' matches 2 people"))
            withExtendedLifetime((ann, anna, anni)) {}
        }

        @Test("viewers can ask for the turn to present only with --presenters", arguments: [true, false])
        func requests(arePossible: Bool) throws {
            let host = try host(arePossible ? ["--presenters"] : [])
            let ann = try PythonClient("guest", in: .rtc, [host.printedLink(), "Ann"])
            let joined = try ann.event("joined")
            #expect(joined["turn"] as? String == (arePossible ? "none" : nil))
        }

        @Test("the control socket itself refuses to decide about a viewer that has no such turn, or that isn't there")
        func refusedDecisions() throws {
            let host = try host(["--presenters"])
            let ann = try guest(try host.printedLink(), "Ann")
            let client = ControlClient()
            let process = host.child.processID
            for id in [ann.id, "nobody"] {
                for decision in TurnDecision.allCases {
                    let error = #expect(throws: ControlError.self) {
                        try client.ask(.present(decision, id), of: process)
                    }
                    let lack = decision == .end ? "may present" : "has asked to present"
                    #expect(error?.description == "process \(process): no one called '\(id)' \(lack)")
                }
            }
            #expect(try !ask(["rooms"], of: host).output.contains("viewer ("))
            withExtendedLifetime(ann) {}
        }
    }
}
