import Glibc
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

/// The options that start the hosts of these tests: any free ports, and a log that tells everything.
enum LinkSocket {
    static let hostOptions = RunningProgram.anyPorts + ["--log", "debug"]
}

extension EndToEnd {
    @Suite("The link's socket", .enabled(if: EndToEnd.isPossible))
    struct LinkSocketFiles {
        @Test("is for its owner alone, and goes with its host")
        func mode() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("s.sock")
            let host = try RunningProgram(
                "screenrelay", ["host", "--link", "unix:s.sock"] + LinkSocket.hostOptions, folder: folder.path)
            _ = try host.printedLink()
            var status = stat()
            #expect(stat(path, &status) == 0)
            #expect(status.st_mode & S_IFMT == S_IFSOCK)
            #expect(status.st_mode & 0o7777 == 0o600)
            #expect(host.stop() == .exited(0))
            #expect(access(path, F_OK) != 0)
        }

        @Test("of a living host is not taken over, and the second host says so")
        func living() throws {
            let folder = try TemporaryFolder()
            let address = "unix:" + folder.file("s.sock")
            let host = try RunningProgram("screenrelay", ["host", "--link", address] + LinkSocket.hostOptions)
            _ = try host.printedLink()
            let second = try CommandLineRun(
                ["screenrelay", "host", "--link", address] + LinkSocket.hostOptions.dropLast(2))
            #expect(second.status == .exited(69))
            #expect(
                second.errorLine?.contains("--link: another host already listens on '\(folder.file("s.sock"))'") == true
            )
            #expect(host.child.poll() == nil)
            #expect(access(folder.file("s.sock"), F_OK) == 0)
        }

        @Test("never replaces a file that is something else")
        func otherFile() throws {
            let folder = try TemporaryFolder()
            try folder.write("s.sock", Array("mine".utf8))
            let run = try CommandLineRun(
                ["screenrelay", "host", "--link", "unix:" + folder.file("s.sock")] + LinkSocket.hostOptions.dropLast(2))
            #expect(run.status == .exited(69))
            #expect(run.errorLine?.contains("is not a socket") == true)
            #expect(try fileBytes(folder.file("s.sock")) == Array("mine".utf8))
        }

        @Test("may also be one that both were handed down")
        func handedDown() throws {
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
            func start(_ words: [String], _ end: Int32) throws -> ChildProcess {
                var launch = Launch(try #require(builtProgram("screenrelay")), words)
                launch.descriptors = [7: end]
                launch.standardOutput = .text(limit: 1 << 16)
                launch.standardError = .text(limit: 1 << 20)
                return try ChildProcess(launch)
            }
            let host = try start(["host", "--link", "fd:7"] + LinkSocket.hostOptions, ends[0])
            let capture = try start(["capture", "--link", "fd:7", "--display", screen.name], ends[1])
            for end in ends { close(end) }
            let link = try eventually("the link") {
                host.output?.text.split(separator: "\n").first { $0.hasPrefix("http://") }.map(String.init)
            }
            try eventually("capture") {
                host.errorOutput?.text.contains(LinkBetweenPrograms.cameTogether) == true ? () : nil
            }
            let picture = try LinkSnapshot(of: link).picture
            #expect(picture.width == 320 && picture.height == 240)

            // The capture has no other way to the host.
            #expect(host.stop(within: .seconds(90)) == .exited(0))
            #expect(capture.wait(within: .seconds(90)) == .exited(0))
            capture.errorOutput?.waitForEnd(within: .seconds(5))
            #expect(capture.errorOutput?.text.contains("the host ends the capture link: the host is ending") == true)
        }
    }
}
