import CLinux
import Glibc
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    @Suite("What share gives its capture", .enabled(if: EndToEnd.isPossible))
    struct CaptureConfinementTests {
        @Test("is what X needs, a socket, and no way to more")
        func little() throws {
            let desktop = try SharedDesktop()
            defer { desktop.stop() }
            let capture = try desktop.captureProcessID()
            try eventually("a capture that has begun", holds: { try status(of: capture)["NoNewPrivs"] == "1" })
            // The last one is set when tests measure coverage, and used by debug builds.
            let allowed = ["DISPLAY", "XAUTHORITY", "HOME", "LANG", "LANGUAGE", "LC_", "TZ", "LLVM_PROFILE_FILE"]
            for variable in try variables(of: capture) {
                #expect(allowed.contains { variable.hasPrefix($0) }, "\(variable)")
            }
            // It has the standard streams, its link, its signals, the X server's sockets and memory, and the file of
            // its own memory use.
            try desktop.host.waitForLog(EndToEnd.LinkBetweenPrograms.cameTogether)
            for descriptor in try Survival.descriptors(of: capture) {
                let kinds = ["socket", "pipe", "anon_inode", "/dev/null", "/memfd", "/proc"]
                let isOurs = kinds.contains { descriptor.hasPrefix($0) }
                #expect(isOurs, "\(descriptor)")
            }
            // There is a limit, far above what is needed.
            let limits = String(decoding: try fileBytes("/proc/\(capture)/limits"), as: UTF8.self)
            let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max address space") })
            let most = line.split(separator: " ").compactMap { UInt64($0) }.first ?? 0
            #expect(most >= 4 << 30, "\(line)")
        }

        @Test("is the host's time zone, so that both write the same time into the log")
        func timeZone() throws {
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            defer { screen.close() }
            let share = try RunningProgram(
                "screenrelay", ["share", "--display", screen.name] + LinkSocket.hostOptions,
                prefix: ["env", "TZ=TEST-9"])
            defer { share.stop() }
            let capture = try eventually("a capture process") { share.captureProcessIDs.last }
            // Right after the fork, the process has the variables of its parent.
            try eventually("the time zone") { try variables(of: capture).contains("TZ=TEST-9") ? () : nil }
        }

        @Test("is memory up to a ceiling: past it capture is ended with a reason, and started again")
        func ceiling() throws {
            let desktop = try SharedDesktop(
                options: ["--capture-memory", "12M"], size: PictureSize(width: 1920, height: 1080))
            defer { desktop.stop() }
            try desktop.host.waitForLog("ending capture: it took ")
            try desktop.host.waitForLog("MB of memory; the limit is 12 MB")
            try desktop.host.waitForLog("capture is process", count: 2)
            try desktop.host.waitForLog("link: capture is gone: capture was ended: it took ")
            #expect(desktop.host.child.poll() == nil)
        }

        @Test("is enough: at its own ceiling, capture goes on where most is needed")
        func enough() throws {
            let desktop = try SharedDesktop(
                scene: ["--scene", "full"], options: ["--chroma", "444"], size: PictureSize(width: 1920, height: 1080))
            defer { desktop.stop() }
            for _ in 0..<3 { #expect(try LinkSnapshot(of: desktop.link).picture.width == 1920) }
            #expect(desktop.host.captureProcessIDs.count == 1)
        }

        @Test(
            "is another user's rights where root asks for that, and the display's credentials as a copy",
            .enabled(if: geteuid() == 0 && getpwnam("nobody") != nil))
        func user() throws {
            let desktop = try SharedDesktop(options: ["--capture-user", "nobody"])
            defer { desktop.stop() }
            #expect(try LinkSnapshot(of: desktop.link).picture.width == 640)
            let capture = try desktop.captureProcessID()
            let nobody = try #require(getpwnam("nobody")).pointee
            let status = try status(of: capture)
            let (user, group) = ("\(nobody.pw_uid)", "\(nobody.pw_gid)")
            #expect(status["Uid"] == [user, user, user, user].joined(separator: "\t"))
            #expect(status["Gid"] == [group, group, group, group].joined(separator: "\t"))
            #expect(status["Groups"]?.filter { $0 != " " } == "")
            #expect(status["NoNewPrivs"] == "1")
            // It still ends with its parent.
            desktop.host.child.terminate(SIGKILL)
            try eventually("capture's own end", within: .seconds(10), holds: { !isRunning(capture) })
        }

        @Test(
            "leaves the audio, which the same user captures",
            .enabled(
                if: geteuid() == 0 && getpwnam("nobody") != nil && PulseServer.isAvailable && PythonClient.isAvailable))
        func userWithSound() throws {
            let folder = try TemporaryFolder()
            // The user may reach the server's socket, and list nothing.
            chmod(folder.path, 0o711)
            let pulse = try PulseServer(in: folder)
            let desktop = try SharedDesktop(
                options: ["--capture-user", "nobody", "--sound", "desktop"],
                prefix: ["env", "PULSE_SERVER=\(pulse.address)"])
            let player = try pulse.playTone()
            let parts = LinkParts(desktop.link)
            let client = try PythonClient(
                "frames_client", in: .rtc, ["ws" + parts.base.dropFirst(4) + "/ws", "\(parts.room),\(parts.token)"],
                environment: ["WITNESS": folder.file("seen")])
            try eventually("frames and the tone") {
                let report = (try? fileBytes(folder.file("seen"))) ?? []
                let seen = Observation(report: String(decoding: report, as: UTF8.self))
                return seen.isMoving && seen.hasTone
            }
            #expect(player.poll() == nil && client.child.poll() == nil)
        }

        private func status(of process: Int32) throws -> [String: String] {
            let text = String(decoding: try fileBytes("/proc/\(process)/status"), as: UTF8.self)
            let pairs = text.split(separator: "\n").map { $0.split(separator: ":", maxSplits: 1) }
            return Dictionary(
                pairs.map { (String($0[0]), $0.count > 1 ? String($0[1].drop { $0 == "\t" }) : "") },
                uniquingKeysWith: { first, _ in first })
        }

        private func variables(of process: Int32) throws -> [String] {
            try fileBytes("/proc/\(process)/environ").split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
