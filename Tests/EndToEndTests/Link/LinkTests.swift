import Glibc
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Host and capture apart", .enabled(if: EndToEnd.isPossible))
    struct LinkBetweenPrograms {
        static let cameTogether = "link: capture screenrelay-capture "

        @Test("they come together, whichever starts first", arguments: SharedDesktop.Order.allCases)
        func eitherOrder(_ order: SharedDesktop.Order) throws {
            let desktop = try SharedDesktop(apart: order)
            defer { desktop.stop() }
            try desktop.host.waitForLog(Self.cameTogether)
            try desktop.expectCurrentPicture("\(order)")
        }

        @Test("a capture that was killed and started again is the room's source again")
        func captureKilled() throws {
            let desktop = try SharedDesktop(apart: .hostFirst)
            defer { desktop.stop() }
            let first = try desktop.expectCurrentPicture("before")
            desktop.capture?.child.terminate(SIGKILL)
            try desktop.host.waitForLog("link: capture is gone")
            // The last picture stays.
            #expect(try LinkSnapshot(of: desktop.link).counter.map { $0 >= first } == true)

            try desktop.restartCapture()
            try desktop.host.waitForLog(Self.cameTogether, count: 2)
            let second = try desktop.expectCurrentPicture("after")
            #expect(second > first)
        }

        @Test("a host that was killed and started again is found again, over the socket file that it left")
        func hostKilled() throws {
            let desktop = try SharedDesktop(apart: .hostFirst)
            defer { desktop.stop() }
            try desktop.host.waitForLog(Self.cameTogether)
            let path = desktop.folder.file("s.sock")
            desktop.host.child.terminate(SIGKILL)
            _ = try eventually("the host's end") { desktop.host.child.poll() }
            #expect(access(path, F_OK) == 0)

            let host = try RunningProgram("screenrelay", ["host", "--link", "unix:" + path] + LinkSocket.hostOptions)
            defer { host.stop() }
            let link = try host.printedLink()
            try host.waitForLog(Self.cameTogether)
            try desktop.expectCurrentPicture("a new host", link: link)
        }

        @Test("a second capture is turned away with the reason, and takes over when the first is gone")
        func secondCapture() throws {
            let desktop = try SharedDesktop(apart: .hostFirst)
            defer { desktop.stop() }
            try desktop.host.waitForLog(Self.cameTogether)
            let second = try RunningProgram(
                "screenrelay",
                [
                    "capture", "--link", "unix:" + desktop.folder.file("s.sock"), "--display", desktop.screen.name,
                    "--log", "debug",
                ])
            defer { second.stop() }
            try second.waitForLog("another capture is connected to this host")
            try desktop.host.waitForLog("refused a second capture")
            #expect(desktop.host.occurrences(of: "capture is gone") == 0)
            try desktop.expectCurrentPicture("the first goes on")

            desktop.capture?.stop()
            try desktop.host.waitForLog("capture is gone")
            try desktop.host.waitForLog(Self.cameTogether, count: 2)
            try desktop.expectCurrentPicture("the second has taken over")
        }

        @Test("a capture that can't share memory by descriptor takes its pictures another way")
        func fewDescriptors() throws {
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            let folder = try TemporaryFolder()
            let address = "unix:" + folder.file("s.sock")
            let host = try RunningProgram("screenrelay", ["host", "--link", address] + LinkSocket.hostOptions)
            let link = try host.printedLink()
            // This is enough for the signals, the log, the file of capture's own memory use, the display and the link,
            // but not for a copy of the shared memory's descriptor.
            let capture = try RunningProgram(
                "screenrelay-capture", ["--link", address, "--display", screen.name],
                prefix: ["sh", "-c", "ulimit -n 10; exec \"$@\"", "sh"])
            defer { capture.stop() }
            try capture.waitForLog("pictures by system-v")
            try host.waitForLog(Self.cameTogether)
            #expect(try LinkSnapshot(of: link).picture.width == 320)
        }

        @Test("a capture sleeps while nobody watches, and a snapshot wakes it and shows the screen as it is now")
        func asleep() throws {
            let desktop = try SharedDesktop(apart: .hostFirst)
            defer { desktop.stop() }
            try desktop.expectCurrentPicture("first")
            let process = try #require(desktop.capture).child.processID
            // The scene moves 30 times a second, so a process that isn't woken as often takes no pictures.
            try eventually("a capture that sleeps") {
                let before = try Self.wakeUps(of: process)
                poll(nil, 0, 200)
                return try Self.wakeUps(of: process) == before ? () : nil
            }
            try desktop.expectCurrentPicture("second")
            try desktop.expectCurrentPicture("third")
        }

        /// Returns how often a process has waited for something so far.
        static func wakeUps(of process: Int32) throws -> Int {
            let text = String(decoding: try fileBytes("/proc/\(process)/status"), as: UTF8.self)
            let line = text.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
            return try #require(line?.split(separator: "\t").last.flatMap { Int($0) })
        }
    }
}
