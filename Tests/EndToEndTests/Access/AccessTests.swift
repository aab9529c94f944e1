import BrowserDriver
import Foundation
import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    @Suite("Who gets in", .enabled(if: EndToEnd.isPossible))
    struct AccessTests {
        let folder: TemporaryFolder
        init() throws { folder = try TemporaryFolder() }

        func host(_ options: [String], prefix: [String] = [], input: Launch.Input = .null) throws
            -> RunningProgram
        {
            try RunningProgram(
                "screenrelay", ["host", "--link", "unix:s.sock"] + LinkSocket.hostOptions + options, prefix: prefix,
                folder: folder.path, input: input)
        }

        /// Returns the status of the answer to a player's request that uses what is in `link`, and `password`.
        private func status(_ link: String, password: String? = nil) throws -> Int? {
            let room = try #require(RoomLink(link))
            let socket = try TestSocket(port: room.port)
            let allowed = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\0"..."~"))
            let header = password?.addingPercentEncoding(withAllowedCharacters: allowed).map {
                "X-Room-Password: \($0)\r\n"
            }
            try socket.send(
                "GET /whep/\(room.room) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                    + "Authorization: Bearer \(room.token)\r\n\(header ?? "")\r\n")
            let answer = String(decoding: try socket.readToEnd("an answer"), as: UTF8.self)
            return answer.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        }

        private func expectPassword(_ link: String) throws {
            #expect(try status(link) == 401)
            #expect(try status(link, password: "wrong") == 401)
            #expect(try status(link, password: "Sesam, öffne dich") == 200)
        }

        @Test("a password comes from a file that is its user's alone")
        func passwordFile() throws {
            let file = try folder.write("password", Array("Sesam, öffne dich\nmore\n".utf8))
            let host = try host(["--password-file", file])
            let link = try host.printedLink()
            try expectPassword(link)
            for link in [link, link + ",wrong"] {
                let run = try CommandLineRun(["screenrelay", "snapshot", link, "-o", folder.file("s.png")])
                #expect(run.status == .exited(77))
                #expect(run.errorLine?.contains("requires a password") == true)
            }
            #expect(!host.log.contains("Sesam"))
            host.stop()
            chmod(file, 0o640)
            let refused = try CommandLineRun([
                "screenrelay", "host", "--password-file", file, "--listen", "127.0.0.1:0",
            ])
            #expect(refused.status == .exited(77))
            #expect(refused.errorLine?.contains("--password-file \(file): can be read by others") == true)
            chmod(file, 0o600)
            try folder.write("password", [])
            let empty = try CommandLineRun(["screenrelay", "host", "--password-file", file, "--listen", "127.0.0.1:0"])
            #expect(empty.status == .exited(65))
        }

        @Test("the journal gets no link, and says where it is", arguments: [[], ["--json"], ["--presenters"]])
        func journal(options: [String]) throws {
            let output = try folder.write("journal", [])
            let program = try #require(builtProgram("screenrelay"))
            var launch = Launch(
                "/bin/sh",
                [
                    "-c", "JOURNAL_STREAM=$(stat -c %d:%i \"$0\") exec \"$@\" >\"$0\"", output, program, "host",
                    "--link", "unix:" + folder.file("s.sock"),
                ] + LinkSocket.hostOptions + options)
            launch.environment = RunningProgram.environment
            let host = try ChildProcess(launch)
            defer { host.stop(within: .seconds(5)) }
            let words = options.contains("--json") ? "\"links\":[]" : "'screenrelay link' prints it."
            try eventually("what it says") {
                String(decoding: try fileBytes(output), as: UTF8.self).contains(words) ? () : nil
            }
            host.terminate(SIGTERM)
            #expect(host.wait(within: .seconds(10)) == .exited(0))
            let text = String(decoding: try fileBytes(output), as: UTF8.self)
            #expect(!text.contains("http") && !text.contains("#screen"), "\(text)")
        }

        @Test("a password comes from standard input")
        func pipedPassword() throws {
            let host = try host(["--password"], input: .pipe)
            try host.child.write(Array("Sesam, öffne dich\n".utf8))
            try expectPassword(host.printedLink())
        }

        @Test(
            "a password is typed on a terminal, twice, and not shown",
            .enabled(if: ProgramLookup.path(of: "script") != nil))
        func typedPassword() throws {
            let program = try #require(builtProgram("screenrelay"))
            let words = [program, "host", "--link", "unix:s.sock", "--password"] + LinkSocket.hostOptions
            func start() throws -> ChildProcess {
                var launch = Launch("script", ["-qec", words.joined(separator: " "), "/dev/null"])
                launch.environment = RunningProgram.environment
                launch.workingFolder = folder.path
                launch.standardInput = .pipe
                launch.standardOutput = .text(limit: 100_000)
                return try ChildProcess(launch)
            }
            func type(_ child: ChildProcess, _ text: String, after question: String) throws {
                try eventually(question) { child.output?.text.contains(question) == true }
                try child.write(Array(text.utf8))
            }
            let host = try start()
            // A mistyped character is deleted with all of its bytes.
            try type(host, "Sesam, öffü\u{7F}ne dich\n", after: "Password for the room: ")
            try type(host, "Sesam, öffne dich\n", after: "Password for the room, again: ")
            let link = try eventually("the link") {
                host.output?.text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("http://") }.map(String.init)
            }
            try expectPassword(link)
            #expect(host.output?.text.contains("Sesam") == false)
            host.stop()

            let mistyped = try start()
            try type(mistyped, "one\n", after: "Password for the room: ")
            try type(mistyped, "other\n", after: "again: ")
            #expect(mistyped.wait(within: .seconds(10)) == .exited(64))
            let cancelled = try start()
            try type(cancelled, "so\u{3}", after: "Password for the room: ")
            #expect(cancelled.wait(within: .seconds(10)) == .exited(64))
        }

        @Test("links end after their time, and a page in the room is told", .enabled(if: EndToEnd.hasBrowser))
        func expiry() throws {
            let browser = try Browser.shared()
            // A busy machine may not get a page into the room within the shortest time.
            for seconds in [3, 6, 12, 24] {
                let host = try host(["--expires", "\(seconds)s"])
                defer { host.stop() }
                let link = try host.printedLink()
                let page = try browser.newPage(link)
                try page.waitUntil("window.screenRelay && window.screenRelay.phase !== 'connecting'")
                let wasInTheRoom = try page.evaluate("window.screenRelay.phase !== 'failed'").bool == true
                let wasGood = try status(link) == 200
                try host.waitForLog("its invite links have expired", within: .seconds(Int64(seconds) + 10))
                guard wasInTheRoom, wasGood else { continue }
                try page.waitUntil("window.screenRelay.phase === 'failed'", within: .seconds(10))
                #expect(try page.evaluate("screenRelay.error").string == "This invite link has expired.")
                #expect(try status(link) == 401)
                return
            }
            Issue.record("no link was good for a page, not even for 24 s")
        }

        @Test("presenters have a token of their own, kept in a file, and shown where that is asked for")
        func presenters() throws {
            let file = folder.file("stage")
            let host = try host(["--presenters", "--present-token-file", file, "--token-file", folder.file("token")])
            let link = try host.printedLink()
            let token = String(decoding: try fileBytes(file), as: UTF8.self).dropLast()
            let line = try eventually("what presenters need") {
                host.output.split(separator: "\n").first { $0.hasPrefix("To publish: ") }
            }
            #expect(line.hasSuffix("/whip/screen with the bearer token \(token)"))
            #expect(!link.contains(token))
            let place = link.prefix { $0 != "," }
            #expect(host.output.contains("\nPresenters: \(place),\(token)\n"))
            // The token opens what the link opens.
            #expect(try status(place + "," + token) == 200)
            host.stop()

            let next = try self.host(["--token-file", folder.file("token")])
            #expect(try next.printedLink().split(separator: ",").last == link.split(separator: ",").last)
            #expect(!next.output.contains("To publish") && !next.output.contains("Presenters"))
            var status = stat()
            #expect(stat(folder.file("token.present"), &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o600)
        }

        /// The state of the page, and of the files that it has requested.
        private static let stateOfPage = """
            JSON.stringify([document.readyState, window.screenRelay?.phase ?? null, document.body?.innerText ?? "",
                performance.getEntriesByType("resource").filter((entry) => entry.responseStatus !== 200)
                    .map((entry) => [entry.name.split("/").pop(), entry.responseStatus])])
            """

        /// How many wrong tokens to try; `Tools/soak tokens` tries more.
        private static let tries = getenv("SCREENRELAY_TOKENS").flatMap { Int(String(cString: $0)) } ?? 2000

        @Test(
            "a viewer with the token gets in while wrong ones come from its own network",
            .enabled(
                if: LossyNetwork.obstacle == nil && ProgramLookup.path(of: "curl") != nil && EndToEnd.hasBrowser))
        func wrongTokens() throws {
            let network = try LossyNetwork(losingFrom: 9)
            func run(_ words: [String]) throws -> ChildProcess {
                var launch = Launch(network.prefix[0], Array(network.prefix.dropFirst()) + words)
                launch.standardOutput = .text(limit: 1 << 20)
                return try ChildProcess(launch)
            }
            let guesser = "2001:db8::bad"
            for address in ["2001:db8::1", guesser] {
                let added = try run(["ip", "address", "add", "\(address)/64", "dev", "near", "nodad"])
                #expect(added.wait(within: .seconds(10)) == .exited(0))
            }
            let host = try host(["--lan", "--listen", "[2001:db8::1]:0"], prefix: network.prefix)
            let link = try host.printedLink()
            let origin = String(link.prefix { $0 != "#" })
            let token = try #require(link.split(separator: ",").last)
            /// Makes `count` requests with a token, one right after another.
            func ask(_ token: some StringProtocol, _ count: Int, from address: String) throws -> ChildProcess {
                try run([
                    "curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}\n", "--interface",
                    address,
                    "-H", "Authorization: Bearer \(token)", "\(origin)whep/screen?[1-\(count)]",
                ])
            }
            func codes(_ child: ChildProcess) -> [Substring] { child.output?.text.split(separator: "\n") ?? [] }

            let browser = try Browser.launch(extraFlags: ["--no-sandbox"], prefix: network.prefix)
            let clock = ContinuousClock()
            let start = clock.now
            let guesses = try ask("wrong", Self.tries, from: guesser)
            defer { guesses.stop() }
            try eventually("a refusal") { codes(guesses).contains("429") }
            // While the guessing goes on, players get in from another address of the network and from the same one, and
            // so does the page.
            var rounds = 0
            while guesses.poll() == nil || rounds == 0 {
                for address in ["2001:db8::1", guesser] {
                    let right = try ask(token, 1, from: address)
                    #expect(right.wait(within: .seconds(90)) == .exited(0))
                    right.output?.waitForEnd(within: .seconds(1))
                    #expect(codes(right) == ["200"], "from \(address)")
                }
                let page = try browser.newPage(link)
                do {
                    try page.waitUntil("window.screenRelay && window.screenRelay.phase !== 'connecting'")
                } catch {
                    let state = try page.evaluate(Self.stateOfPage).string
                    Issue.record("round \(rounds): \(error): \(state ?? "")")
                }
                #expect(try page.evaluate("window.screenRelay?.phase").string == "negotiating")
                page.close()
                rounds += 1
            }
            guesses.output?.waitForEnd(within: .seconds(1))
            let seconds = Int((clock.now - start) / .seconds(1))
            let answers = codes(guesses)
            #expect(answers.count == Self.tries)
            #expect(answers.allSatisfy { $0 == "401" || $0 == "429" })
            // The limit is twenty at once, and one a second.
            #expect(answers.count { $0 == "401" } <= 21 + seconds)
            #expect(host.child.poll() == nil)
        }
    }
}
