import BrowserDriver
import Glibc
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// The sharer pauses, goes on and ends by the command line, and the pages say so.
    @Suite("A sharer who pauses", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserPauseTests {
        private static let slate = """
            (() => {
              const slate = document.getElementById('slate');
              return slate.hidden ? '' : slate.innerText.trim() + '|' + document.getElementById('spoken').textContent;
            })()
            """

        private func ask(_ command: String, of desktop: SharedDesktop) throws -> String {
            let run = try CommandLineRun(["screenrelay", command, "--pid", "\(desktop.host.child.processID)"])
            #expect(run.status == .exited(0), "\(run.errorOutput)")
            return run.output
        }

        @Test(
            "is covered by a slate on every page, also on one that comes meanwhile, and comes back",
            .timeLimit(.minutes(5)))
        func pause() throws {
            let desktop = try SharedDesktop()
            let browser = try Browser.shared()
            let viewer = try ViewerPage(desktop.link, in: browser)
            try viewer.waitUntilPlaying()
            try viewer.expectMotion()
            #expect(try viewer.page.evaluate(Self.slate).string == "")

            #expect(try ask("pause", of: desktop) == "paused\n")
            try viewer.page.waitUntil("screenRelay.source === 'paused'")
            let words = try eventually("the slate") {
                try viewer.page.evaluate(Self.slate).string.flatMap { $0.isEmpty ? nil : $0 }
            }
            #expect(words.hasPrefix("The sharer has paused."))
            #expect(words.contains("|The sharer has paused."))
            #expect(try ask("status", of: desktop).hasPrefix("paused; "))

            let newcomer = try ViewerPage(desktop.link, in: browser)
            let seen = try eventually("the newcomer's slate") {
                try newcomer.page.evaluate(Self.slate).string.flatMap { $0.isEmpty ? nil : $0 }
            }
            #expect(seen == words)
            // Whatever the video shows by now, it must be nothing of the scene.
            let joined = now()
            try eventually("two seconds") { () throws -> Void? in
                let counter = try newcomer.counter()
                #expect(counter == nil)
                return now() - joined > .seconds(2) ? () : nil
            }

            kill(desktop.host.child.processID, SIGUSR1)
            for page in [viewer, newcomer] {
                try page.page.waitUntil("screenRelay.source === 'live'")
                try page.waitUntilPlaying()
                try page.expectMotion()
                #expect(try page.page.evaluate(Self.slate).string == "")
                #expect(try page.reconnects() == 0)
                #expect(page.page.consoleErrors.isEmpty, "\(page.page.consoleErrors)")
            }
            #expect(try ask("status", of: desktop).hasPrefix("live; "))
        }

        @Test(
            "of a source, which has no slate to send, is covered on a page that comes meanwhile, which then plays",
            .enabled(if: FFmpeg.isAvailable), .timeLimit(.minutes(5)))
        func source() throws {
            let folder = try TemporaryFolder()
            let talk = folder.file("talk.mkv")
            let made = try FFmpeg.run([
                "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=10", "-f", "lavfi", "-i",
                "sine=440:sample_rate=48000", "-t", "90", "-c:v", "libx264", "-bf", "0", "-g", "10", "-preset",
                "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "libopus", talk,
            ])
            try #require(made.status == .exited(0), "\(made.messages)")
            let host = try RunningProgram.host(
                "unix:" + folder.file("s.sock"), ["--source", "file:" + talk, "--rtsp", "0"])
            let link = try host.printedLink()
            func ask(_ command: String) throws {
                let run = try CommandLineRun(["screenrelay", command, "--pid", "\(host.child.processID)"])
                #expect(run.status == .exited(0), "\(run.errorOutput)")
            }
            // It has sent pictures.
            _ = try LinkSnapshot(of: link)
            try ask("pause")
            let viewer = try ViewerPage(link, in: Browser.shared())
            let words = try eventually("the slate") {
                try viewer.page.evaluate(Self.slate).string.flatMap { $0.isEmpty ? nil : $0 }
            }
            #expect(words.hasPrefix("The sharer has paused."))
            let rtsp = try eventually("the place for players") {
                host.output.split(separator: "\n").first { $0.contains("rtsp://") }?.split(separator: " ").last
            }
            var launch = Launch("ffprobe", ["-v", "error", "-rtsp_transport", "tcp", String(rtsp)])
            launch.standardError = .text(limit: 1 << 16)
            let refused = try ChildProcess.run(launch, within: .seconds(90))
            #expect(refused.status != .exited(0) && refused.errorOutput.contains("5XX"), "\(refused.errorOutput)")
            #expect(try viewer.page.evaluate("document.getElementById('video').videoWidth").int == 0)
            #expect(try viewer.picture() == nil)
            try ask("resume")
            try viewer.waitUntilPlaying()
            let first = try #require(try viewer.picture())
            try eventually("another picture") { try viewer.picture().map { $0.bytes != first.bytes } == true }
            #expect(try viewer.page.evaluate(Self.slate).string == "")
            #expect(try viewer.reconnects() == 0)
        }

        @Test("a capture that dies while the sharer pauses shows nothing when it is back", .timeLimit(.minutes(5)))
        func restart() throws {
            let desktop = try SharedDesktop()
            let browser = try Browser.shared()
            _ = try ask("pause", of: desktop)
            let viewer = try ViewerPage(desktop.link, in: browser)
            try viewer.page.waitUntil("screenRelay.source === 'paused'")
            kill(try desktop.captureProcessID(), SIGKILL)
            try desktop.host.waitForLog("capture is process", count: 2)
            try desktop.host.waitForLog("has connected", count: 2)
            try viewer.page.waitUntil("screenRelay.source === 'paused'")
            let back = now()
            try eventually("two seconds") { () throws -> Void? in
                let counter = try viewer.counter()
                #expect(counter == nil)
                return now() - back > .seconds(2) ? () : nil
            }
            #expect(try ask("resume", of: desktop) == "resumed\n")
            try viewer.waitUntilPlaying()
            try viewer.expectMotion()
        }

        @Test("stop ends the share in good order, and its viewers are told", .timeLimit(.minutes(5)))
        func stop() throws {
            let desktop = try SharedDesktop()
            let browser = try Browser.shared()
            let viewer = try ViewerPage(desktop.link, in: browser)
            try viewer.waitUntilPlaying()
            #expect(try ask("stop", of: desktop) == "stopping\n")
            #expect(desktop.host.child.wait(within: .seconds(30)) == .exited(0))
            try viewer.page.waitUntil(
                "document.getElementById('card-title').textContent === 'Sharing has ended.'")
            let gone = try CommandLineRun(["screenrelay", "status", "--pid", "\(desktop.host.child.processID)"])
            #expect(gone.status == .exited(69))
            #expect(gone.errorLine?.contains("--pid \(desktop.host.child.processID)") == true)
        }

        @Test("capture lists what can be shared, in words that it takes", .timeLimit(.minutes(5)))
        func list() throws {
            let desktop = try SharedDesktop()
            for words in [["screenrelay-capture", "--list"], ["screenrelay", "capture", "--list"]] {
                let run = try CommandLineRun(words, display: desktop.screen.name)
                #expect(run.status == .exited(0))
                #expect(run.output.contains("--display \(desktop.screen.name)"))
                #expect(run.output.contains("640x480"))
                #expect(run.output.contains("--monitor "))
                #expect(run.output.contains("Windows"))
            }
            let shared = try CommandLineRun(["screenrelay", "share", "--list", "--display", desktop.screen.name])
            #expect(shared.status == .exited(0))
            #expect(shared.output.hasPrefix("Displays:\n"))
            // Without DISPLAY there are still displays to choose from.
            for words in [["capture", "--list"], ["share", "--list"]] {
                let unnamed = try CommandLineRun(["screenrelay"] + words)
                #expect(unnamed.status == .exited(0), "\(unnamed.errorOutput)")
                #expect(unnamed.output.contains("--display \(desktop.screen.name)\n"), "\(unnamed.output)")
            }
        }
    }
}
