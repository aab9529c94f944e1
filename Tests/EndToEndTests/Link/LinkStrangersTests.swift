import BrowserDriver
import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    /// Peers that connect to the link and have no business there.
    @Suite("Strangers on the link", .enabled(if: EndToEnd.isPossible))
    struct LinkStrangersTests {
        /// `Tools/soak connections` asks for more.
        private static let asked =
            getenv("SCREENRELAY_CONNECTIONS").flatMap { Int(String(cString: $0)) }.map { max(1, min($0, 10_000)) }
        private static let count = asked ?? 200

        /// One of many connections.
        private struct Stranger {
            let socket: TestSocket
            let since: MonotonicTime
        }

        @Test(
            "in a flood, silent or with a length beyond all limits, are closed in time, cost no memory, and the page sees none of it",
            .enabled(if: EndToEnd.hasBrowser), .timeLimit(.minutes(5)))
        func flood() throws {
            let host = try NetworkHost()
            let desktop = try SharedDesktop(apart: .hostFirst, captureTo: host.address)
            defer { desktop.stop() }
            try host.program.waitForLog(EndToEnd.LinkBetweenPrograms.cameTogether)
            let browser = try Browser.shared()
            let viewer = try ViewerPage(host.link, in: browser)
            try viewer.waitUntilPlaying()
            // A busy machine may begin by the WebSocket.
            try viewer.page.waitUntil("!screenRelay.isByWebSocket")
            try viewer.expectMotion(by: 60)
            let process = host.program.child.processID
            let before = try ProcessFigures(process)

            // A page freezes by itself now and then while other tests run; a flood that freezes it does so each time.
            let tries = Self.asked == nil ? 4 : 1
            let floods = try (1...tries).first { _ in try isUnseen(by: viewer) { try flood(host) } }
            let statistics = try viewer.allStatistics()
            #expect(floods != nil, "\(statistics)")
            let after = try ProcessFigures(process)
            #expect(after.peak - before.resident < 16 * 1024, "\(before), then \(after)")
            #expect(after.descriptors <= before.descriptors + 1)
            #expect(host.program.occurrences(of: "capture is gone") == 0)

            #expect(try viewer.reconnects() == 0)
            print("connections: \(floods ?? tries) x 2 x \(Self.count); host before: \(before); after: \(after)")
        }

        /// Returns whether the page's picture didn't freeze and missed no packet while `body` ran, and moves after it.
        private func isUnseen(by viewer: ViewerPage, _ body: () throws -> Void) throws -> Bool {
            _ = try #require(try viewer.statistic("freezeCount"))
            let before = try viewer.statistics(["freezeCount", "packetsLost"])
            try body()
            try viewer.expectMotion()
            return try viewer.statistics(["freezeCount", "packetsLost"]) == before
        }

        private func flood(_ host: NetworkHost) throws {
            // The marker '&', and a length of 0xFFFFFFFF.
            let header: [UInt8] = [0x26, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]
            for bytes in [header, []] {
                let longest = try meet(Self.count, sending: bytes, at: host.port)
                #expect(longest < .seconds(10), "the last one was closed after \(longest.milliseconds) ms")
            }
        }

        /// Opens that many connections, sends the same on each, and waits until the host has closed all; returns how
        /// long the slowest took.
        private func meet(_ count: Int, sending bytes: [UInt8], at port: UInt16) throws -> Interval {
            var open: [Stranger] = []
            var longest = Interval.zero
            func look() {
                open.removeAll { stranger in
                    guard stranger.socket.hasEnded else { return false }
                    longest = max(longest, now() - stranger.since)
                    return true
                }
            }
            for index in 0..<count {
                let socket = try TestSocket(port: port)
                open.append(Stranger(socket: socket, since: now()))
                if !bytes.isEmpty { try socket.send(bytes) }
                if index % 16 == 0 { look() }
            }
            try eventually("the end of \(count) connections", within: .seconds(90)) {
                look()
                return open.isEmpty ? () : nil
            }
            return longest
        }

        @Test("of another user of the machine are refused, as is their host", .enabled(if: geteuid() == 0))
        func otherUser() throws {
            // A folder and programs for the user nobody, who may have no access to where these tests are built.
            let folder = try TemporaryFolder()
            chmod(folder.path, 0o755)
            let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            let path = folder.file("s.sock")
            let host = try RunningProgram("screenrelay", ["host", "--link", "unix:" + path] + LinkSocket.hostOptions)
            _ = try host.printedLink()
            // Without this they would not even reach the host.
            chmod(path, 0o777)
            let script = "my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die $!; $s->sysread(my $bytes, 9)"
            let asked = try ChildProcess.run(
                Launch(nobody[0], Array(nobody.dropFirst()) + ["perl", "-MIO::Socket::UNIX", "-e", script, path]),
                within: .seconds(10))
            #expect(asked.status == .exited(0))
            try host.waitForLog(
                "the process on the other end belongs to user 65534; only user 0 and root may use this capture link")
            let capture = try RunningProgram(
                "screenrelay-capture", ["--link", "unix:" + path, "--display", screen.name])
            defer { capture.stop() }
            try host.waitForLog(EndToEnd.LinkBetweenPrograms.cameTogether)

            // The other way round: another user was the first to listen there.
            let theirs = folder.file("theirs")
            mkdir(theirs, 0o755)
            try #require(chown(theirs, 65_534, 65_534) == 0)
            let listening =
                "my $s = IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 4) or die $!; $| = 1; print 'ready'; sleep"
            var launch = Launch(
                nobody[0],
                Array(nobody.dropFirst()) + ["perl", "-MIO::Socket::UNIX", "-e", listening, theirs + "/s.sock"])
            launch.standardOutput = .text(limit: 100)
            let foreign = try ChildProcess(launch)
            defer { foreign.stop(within: .seconds(1)) }
            try eventually("the other user's host") { foreign.output?.text.contains("ready") == true ? () : nil }
            let run = try CommandLineRun(
                ["screenrelay-capture", "--link", "unix:" + theirs + "/s.sock", "--display", screen.name])
            #expect(run.status == .exited(77))
            #expect(run.errorOutput.contains("belongs to user 65534"))
        }
    }
}
