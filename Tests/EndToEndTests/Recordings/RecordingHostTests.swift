import CaptureLink
import Glibc
import MediaTypes
import Processes
import Recording
import RecordingFiles
import TestSupport
import Testing

extension EndToEnd {
    @Suite("A host that records", .enabled(if: EndToEnd.isPossible))
    struct RecordingHostTests {
        private let folder: TemporaryFolder
        private let file: String

        init() throws {
            folder = try TemporaryFolder()
            file = folder.file("screen.srr")
        }

        /// How many messages a recording has, and whether all of it could be read.
        private func messages(of path: String) throws -> (count: Int, fault: RecordingError?, hasEnd: Bool) {
            let file = try RecordedFile(path: path)
            var count = 0
            while let item = try file.next() { if case .message = item.content { count += 1 } }
            return (count, file.fault, file.hasEnd)
        }

        @Test("takes no memory for strangers who send much of what nobody knows, in pieces of a byte")
        func flood() throws {
            let host = try NetworkHost(["--record", file])
            let process = host.program.child.processID
            var unknown = MessageEncoder(epoch: 99).encode(.requestKeyFrame)
            unknown[1] = 31
            let sockets = try (0..<8).map { _ in try TestSocket(port: host.port) }
            func send(_ rounds: Int) throws {
                for index in 0..<rounds {
                    for socket in sockets { try socket.send([unknown[index % unknown.count]]) }
                    // Wait, so that most bytes are read one by one.
                    poll(nil, 0, 1)
                }
            }
            try send(2 * unknown.count)
            let before = try ProcessFigures(process)
            try send(12 * unknown.count)
            let after = try ProcessFigures(process)
            // A read buffer has 256 KiB; one for each connection would be close to a gigabyte.
            #expect(after.peak - before.resident < 16 * 1024, "\(before), then \(after)")
            #expect(sockets.allSatisfy { !$0.hasEnded })
            #expect(host.program.stop() == .exited(0))
            #expect(access(file, F_OK) != 0)
        }

        @Test("and could not begin leaves no file in the way of the next try")
        func failedStart() throws {
            let taken = try TestSocket(listening: .tcp)
            for _ in 1...2 {
                let run = try CommandLineRun(
                    ["screenrelay", "host", "--record", file, "--link", "tcp:127.0.0.1:\(taken.port)"]
                        + LinkSocket.hostOptions)
                #expect(run.status == .exited(69), "\(run.errorOutput)")
                #expect(access(file, F_OK) != 0)
            }
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            for _ in 1...2 {
                let run = try CommandLineRun(
                    ["screenrelay", "share", "--record", file, "--display", screen.name, "--window", "no such window"]
                        + LinkSocket.hostOptions)
                #expect(run.status == .exited(66), "\(run.errorOutput)")
                #expect(access(file, F_OK) != 0)
            }
        }

        @Test("and has no folder to record to ends with one line that names it, as do a capture and a share")
        func folderMissing() throws {
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            let nowhere = folder.file("none")
            let record = ["--record", nowhere + "/s.srr"]
            for words in [
                ["host", "--link", "unix:" + folder.file("l.sock")] + LinkSocket.hostOptions,
                ["share", "--display", screen.name] + LinkSocket.hostOptions,
                ["capture", "--display", screen.name, "--link", "unix:" + folder.file("l.sock")],
            ] {
                let run = try CommandLineRun(["screenrelay"] + words + record)
                #expect(run.status == .exited(73), "\(words): \(run.errorOutput)")
                #expect(
                    run.errorLine?.hasSuffix("--record: folder '\(nowhere)' does not exist; make it first") == true,
                    "\(words): \(run.errorOutput)")
            }
        }

        @Test("tells in its status how far that is, and still of capture, however long the path is")
        func status() throws {
            let long = folder.file(String(repeating: "a long name ", count: 20) + ".srr")
            let desktop = try SharedDesktop(apart: .hostFirst, hostOptions: ["--record", long])
            defer { desktop.stop() }
            let process = ["--pid", "\(desktop.host.child.processID)"]
            try eventually("figures of capture's pictures") { () throws -> Void? in
                let run = try CommandLineRun(["screenrelay", "status"] + process)
                #expect(run.output.contains("; recording to '..."), "\(run.output)")
                #expect(run.output.contains("a long name .srr': "), "\(run.output)")
                return run.output.contains("\n  capture: ") && run.output.hasSuffix("\n") ? () : nil
            }
            let json = try CommandLineRun(["screenrelay", "status", "--json"] + process)
            #expect(json.output.contains("\"path\":\"\(long)\""), "\(json.output)")
            #expect(json.output.contains("\"missingMessages\":0,"), "\(json.output)")
        }

        @Test("and is killed leaves a file that can be read up to then")
        func killed() throws {
            let desktop = try SharedDesktop(apart: .hostFirst, hostOptions: ["--record", file])
            defer { desktop.stop() }
            try eventually("pictures in the file") { try? messages(of: file).count > 60 ? () : nil }
            desktop.host.child.terminate(SIGKILL)
            #expect(desktop.host.child.wait(within: .seconds(30)) == .signaled(SIGKILL))
            let recorded = try messages(of: file)
            #expect(recorded.count > 60)
            #expect(!recorded.hasEnd)
            // The kernel may have been in the middle of a write.
            if let fault = recorded.fault { #expect(fault.description.contains("the file ends inside"), "\(fault)") }
        }

        @Test(
            "on a disk that is full says so in one line, the share goes on, and the file can be read",
            .enabled(if: SmallDisk.isAvailable, "only root may mount the small disk that this needs"))
        func fullDisk() throws {
            let disk = try SmallDisk(kilobytes: 128)
            let small = disk.path + "/screen.srr"
            let desktop = try SharedDesktop(options: ["--record", small])
            defer { desktop.stop() }
            let before = try desktop.expectCurrentPicture("before")
            try desktop.host.waitForLog("--record: the disk is full: '\(small)' ends after ", within: .seconds(120))
            #expect(try desktop.expectCurrentPicture("after") > before)
            let status = try CommandLineRun(["screenrelay", "status", "--pid", "\(desktop.host.child.processID)"])
            #expect(status.output.contains("; it has stopped: the disk is full"), "\(status.output)")
            #expect(desktop.host.stop() == .exited(0))
            #expect(desktop.host.occurrences(of: "--record") == 1)
            let recorded = try messages(of: small)
            #expect(recorded.count > 10)
            #expect(recorded.fault == nil)
            #expect(!recorded.hasEnd)
        }
    }
}
