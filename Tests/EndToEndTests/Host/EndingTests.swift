import Glibc
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEnd {
    @Suite("The programs' end", .enabled(if: EndToEnd.isPossible))
    struct Endings {
        @Test("share ends cleanly at SIGINT and SIGTERM, and takes its capture along", arguments: [SIGINT, SIGTERM])
        func share(_ signal: Int32) throws {
            let desktop = try SharedDesktop()
            defer { desktop.stop() }
            try desktop.expectCurrentPicture("before")
            let capture = try desktop.captureProcessID()
            let host = desktop.host.child
            try expectNoFileMemory(of: capture)
            try expectQuickEnd(of: host, by: signal)
            #expect(!isRunning(capture))
            #expect(try sharedSegments(of: [capture, host.processID]).isEmpty)
            #expect(!desktop.host.log.contains("error:"))
        }

        @Test("host and capture end cleanly at SIGINT and SIGTERM, and leave no socket", arguments: [SIGINT, SIGTERM])
        func apart(_ signal: Int32) throws {
            let desktop = try SharedDesktop(apart: .hostFirst)
            defer { desktop.stop() }
            try desktop.expectCurrentPicture("before")
            let capture = try #require(desktop.capture).child
            try expectQuickEnd(of: capture, by: signal)
            try desktop.host.waitForLog("link: capture is gone: capture was told to stop")
            #expect(try sharedSegments(of: [capture.processID]).isEmpty)

            #expect(access(desktop.folder.file("s.sock"), F_OK) == 0)
            try expectQuickEnd(of: desktop.host.child, by: signal)
            #expect(access(desktop.folder.file("s.sock"), F_OK) != 0)
        }

        @Test("a capture that waits for its host ends at once too")
        func waiting() throws {
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            let folder = try TemporaryFolder()
            let capture = try RunningProgram(
                "screenrelay", ["capture", "--link", "unix:" + folder.file("s.sock"), "--display", screen.name])
            try capture.waitForLog("waiting for it")
            try expectQuickEnd(of: capture.child, by: SIGTERM)
        }

        @Test("a capture whose X server hangs ends at once too, in the middle of a stream and while it connects")
        func hangingServer() throws {
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            defer { screen.close() }
            // This host lets the capture take pictures all the time.
            let folder = try TemporaryFolder()
            let listener = try TestSocket(listeningAt: folder.file("s.sock"))
            func start() throws -> RunningProgram {
                try RunningProgram(
                    "screenrelay", ["capture", "--link", "unix:" + folder.file("s.sock"), "--display", screen.name])
            }
            let capture = try start()
            let host = try listener.accepted()
            try eventually("a picture") { host.receive()?.isEmpty == false ? () : nil }
            screen.freeze()
            try eventually("a capture that waits for its server") { try isStuck(capture) ? () : nil }
            try expectQuickEnd(of: capture.child, by: SIGTERM)

            let second = try start()
            try eventually("a capture that waits for its connection") { try isStuck(second) ? () : nil }
            try expectQuickEnd(of: second.child, by: SIGINT)
            #expect(try sharedSegments(of: [capture.child.processID, second.child.processID]).isEmpty)
        }

        @Test(
            "killed, share leaves nothing: its capture ends by itself, even where that hangs", arguments: [false, true])
        func shareKilled(isHanging: Bool) throws {
            let desktop = try SharedDesktop()
            defer { desktop.stop() }
            let capture = try desktop.captureProcessID()
            if isHanging {
                try desktop.expectCurrentPicture("before")
                kill(capture, SIGSTOP)
            }
            desktop.host.child.terminate(SIGKILL)
            try eventually("capture's own end", within: .seconds(10), holds: { !isRunning(capture) })
            #expect(try sharedSegments(of: [capture, desktop.host.child.processID]).isEmpty)
        }
    }

    @Suite("What dies under share", .enabled(if: EndToEnd.isPossible))
    struct EndingsAround {
        @Test("a capture that dies is started again, and the room shows the screen again")
        func capture() throws {
            let desktop = try SharedDesktop()
            defer { desktop.stop() }
            let before = try desktop.expectCurrentPicture("before")
            let first = try desktop.captureProcessID()
            kill(first, SIGKILL)
            try desktop.host.waitForLog("capture ended (ended by signal 9); restarting it at once")
            try desktop.host.waitForLog("capture is process", count: 2)
            try desktop.host.waitForLog(LinkBetweenPrograms.cameTogether, count: 2)
            #expect(try desktop.captureProcessID() != first)
            #expect(try desktop.expectCurrentPicture("after") > before)
            #expect(try sharedSegments(of: [first]).isEmpty)
        }

        @Test("an X server that dies is waited for, and captured again when it is back")
        func screen() throws {
            // This display number is unlikely to be taken by another server meanwhile.
            let number = 20_000 + getpid() % 10_000
            let size = PictureSize(width: 320, height: 240)
            let screen = try VirtualScreen(size, options: [":\(number)"])
            #expect(screen.name == ":\(number)")
            let share = try RunningProgram(
                "screenrelay", ["share", "--display", screen.name] + LinkSocket.hostOptions)
            defer { share.stop() }
            let link = try share.printedLink()
            #expect(try LinkSnapshot(of: link).picture.width == 320)

            screen.close()
            try share.waitForLog("restarting it")
            try share.waitForLog("can't be opened")
            #expect(share.child.poll() == nil)
            // The last picture stays.
            #expect(try LinkSnapshot(of: link).picture.width == 320)
            // The third attempt after it fails 300 ms later, and says nothing any more.
            let until = now() + .milliseconds(1200)
            try eventually("more attempts", within: .seconds(5), holds: { now() > until })
            #expect(share.occurrences(of: "can't be opened") == 1)

            let starts = share.occurrences(of: LinkBetweenPrograms.cameTogether)
            let again = try VirtualScreen(PictureSize(width: 480, height: 360), options: [":\(number)"])
            defer { again.close() }
            try share.waitForLog(LinkBetweenPrograms.cameTogether, count: starts + 1)
            try share.waitForLog("warning: capture continues: its source is back")
            #expect(try LinkSnapshot(of: link).picture.width == 480)
        }
    }
}

/// Sends `signal` and expects `process` to end with status 0 within five seconds: the promised two, and three for a
/// machine that is busy.
private func expectQuickEnd(of process: ChildProcess, by signal: Int32) throws {
    let begin = now()
    process.terminate(signal)
    let status = process.wait(within: .seconds(90))
    let took = now() - begin
    #expect(status == .exited(0))
    #expect(took < .seconds(5))
    print("process \(process.processID) has ended \(took.milliseconds) ms after signal \(signal)")
}

/// Returns whether a capture that takes pictures has come to a standstill: normally it looks for the pointer ten times
/// a second.
private func isStuck(_ capture: RunningProgram) throws -> Bool {
    let process = capture.child.processID
    // This doesn't count while it is still being loaded: it must already handle SIGTERM itself.
    guard try catchesSIGTERM(process) else { return false }
    let before = try EndToEnd.LinkBetweenPrograms.wakeUps(of: process)
    poll(nil, 0, 300)
    return try EndToEnd.LinkBetweenPrograms.wakeUps(of: process) == before
}

private func catchesSIGTERM(_ process: Int32) throws -> Bool {
    let text = String(decoding: try fileBytes("/proc/\(process)/status"), as: UTF8.self)
    return ["SigCgt:", "SigBlk:"].contains { name in
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        let signals = line?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
        return signals & 1 << UInt64(SIGTERM - 1) != 0
    }
}

/// Returns whether a process is there and isn't just waiting to be reaped.
func isRunning(_ process: Int32) -> Bool {
    guard let bytes = try? fileBytes("/proc/\(process)/stat") else { return false }
    // "PID (NAME) STATE ...", where the name may contain any character.
    let state = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?.split(separator: " ").first
    return state != "Z" && state != "X"
}

/// The System V segments that one of these processes has created.
func sharedSegments(of processes: [Int32]) throws -> [String] {
    let table = String(decoding: try fileBytes("/proc/sysvipc/shm"), as: UTF8.self)
    return table.split(separator: "\n").dropFirst().map(String.init).filter { line in
        // key shmid perms size cpid ...
        let fields = line.split(separator: " ")
        return fields.count > 4 && processes.contains { Substring("\($0)") == fields[4] }
    }
}

/// Expects that a capture's memory has no name in the file system that a kill would leave behind.
private func expectNoFileMemory(of process: Int32) throws {
    let maps = String(decoding: try fileBytes("/proc/\(process)/maps"), as: UTF8.self)
    for line in maps.split(separator: "\n") where line.contains("/dev/shm/") || line.contains("/SYSV") {
        #expect(line.hasSuffix("(deleted)"), "\(line)")
    }
}
