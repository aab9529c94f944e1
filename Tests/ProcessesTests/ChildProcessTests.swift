import Glibc
import Processes
import Synchronization
import TestSupport
import Testing

@Suite("Child processes")
struct ChildProcessTests {
    @Test("the exit code of a child is reported", arguments: [Int32(0), 1, 69, 255])
    func exitCode(code: Int32) throws {
        let child = try ChildProcess(Launch("sh", ["-c", "exit \(code)"]))
        #expect(child.wait(within: .seconds(5)) == .exited(code))
        #expect(child.poll() == .exited(code))
    }

    @Test("a child ended by a signal is reported with that signal")
    func signalled() throws {
        let child = try ChildProcess(Launch("sleep", ["60"]))
        #expect(child.poll() == nil)
        #expect(child.wait(within: .milliseconds(20)) == nil)
        child.terminate()
        #expect(child.wait(within: .seconds(5)) == .signaled(SIGTERM))
    }

    @Test("a child that ignores SIGTERM is killed after its grace")
    func stubborn() throws {
        var launch = Launch("sh", ["-c", "trap '' TERM; echo ready; while :; do sleep 0.01; done"])
        launch.standardOutput = .text(limit: 100)
        let child = try ChildProcess(launch)
        try eventually("the trap", holds: { child.output?.text == "ready\n" })
        #expect(child.stop(within: .milliseconds(50)) == .signaled(SIGKILL))
    }

    @Test("letting go of a child ends it")
    func letGo() throws {
        let processID = try ChildProcess(Launch("sleep", ["60"])).processID
        #expect(kill(processID, 0) == -1)
    }

    @Test("a signal to a process group reaches the grandchildren")
    func processGroup() throws {
        var launch = Launch("sh", ["-c", "sleep 60 & echo $!; wait"])
        launch.leadsProcessGroup = true
        launch.standardOutput = .text(limit: 100)
        let child = try ChildProcess(launch)
        let text = try eventually("the process id") { child.output.flatMap { $0.text.hasSuffix("\n") ? $0.text : nil } }
        let grandchild = try #require(Int32(text.dropLast()))
        child.stop()
        // An orphan that init has yet to reap still has its id, but no longer its pipe.
        #expect(child.output?.waitForEnd(within: .seconds(5)) == true)
        #expect(grandchild > 0)
    }

    @Test("standard streams are read to their end, each in its own text")
    func output() throws {
        var launch = Launch("sh", ["-c", "echo out; echo err >&2; printf 'no line feed'"])
        launch.standardOutput = .text(limit: 1000)
        launch.standardError = .text(limit: 1000)
        let result = try ChildProcess.run(launch, within: .seconds(5))
        #expect(result.status == .exited(0))
        #expect(result.output == "out\nno line feed")
        #expect(result.errorOutput == "err\n")
    }

    @Test("output past the limit is dropped and counted, and the child is not blocked")
    func limit() throws {
        var launch = Launch("sh", ["-c", "head -c 300000 /dev/zero"])
        launch.standardOutput = .text(limit: 1000)
        let child = try ChildProcess(launch)
        #expect(child.wait(within: .seconds(5)) == .exited(0))
        #expect(child.output?.waitForEnd(within: .seconds(5)) == true)
        #expect(child.output?.bytes.count == 1000)
        #expect(child.output?.droppedBytes == 299_000)
    }

    @Test("lines are handed over one by one, the last also without a line feed")
    func lines() throws {
        let received = Received()
        var launch = Launch("printf", ["one\\ntwo\\n\\nlast"])
        launch.standardOutput = .lines(limit: 0) { line in received.lines.withLock { $0.append(line) } }
        let child = try ChildProcess(launch)
        #expect(child.output?.waitForEnd(within: .seconds(5)) == true)
        #expect(received.lines.withLock { $0 } == ["one", "two", "", "last"])
    }

    @Test("what is written to a child's standard input arrives, and closing it is the end of the file")
    func input() throws {
        var launch = Launch("cat")
        launch.standardInput = .pipe
        launch.standardOutput = .text(limit: 100)
        let child = try ChildProcess(launch)
        try child.write(Array("through".utf8))
        child.closeInput()
        #expect(child.wait(within: .seconds(5)) == .exited(0))
        #expect(child.output?.waitForEnd(within: .seconds(5)) == true)
        #expect(child.output?.text == "through")
        #expect(throws: ProcessError.inputClosed(errno: EBADF)) { try child.write([1]) }
    }

    @Test("a descriptor is handed down under its number, and no other one is")
    func descriptors() throws {
        // Not closed by exec itself: that the child has no other one is the doing of who starts it.
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        var launch = Launch("sh", ["-c", "echo hello >&4; ls /proc/self/fd | tr '\\n' ' '"])
        launch.descriptors = [4: ends[1]]
        launch.standardOutput = .text(limit: 1000)
        let result = try ChildProcess.run(launch, within: .seconds(5))
        // ls has one more, for the folder that it reads.
        #expect(result.output == "0 1 2 3 4 ")
        var buffer = [UInt8](repeating: 0, count: 16)
        #expect(read(ends[0], &buffer, buffer.count) == 6)
        #expect(buffer.starts(with: Array("hello\n".utf8)))
    }

    @Test("two descriptors may swap their numbers")
    func swapped() throws {
        let (first, second) = (try makePipe(), try makePipe())
        defer { for end in [first.reading, first.writing, second.reading, second.writing] { close(end) } }
        var launch = Launch("sh", ["-c", "echo a >&\(first.writing); echo b >&\(second.writing)"])
        launch.program = "bash"
        launch.descriptors = [first.writing: second.writing, second.writing: first.writing]
        #expect(try ChildProcess.run(launch, within: .seconds(5)).status == .exited(0))
        var buffer = [UInt8](repeating: 0, count: 2)
        #expect(read(first.reading, &buffer, 2) == 2 && buffer == Array("b\n".utf8))
        #expect(read(second.reading, &buffer, 2) == 2 && buffer == Array("a\n".utf8))
    }

    @Test("the environment is ours with the changes that were asked for")
    func environment() throws {
        // With what is there: to set a variable here would pull the list from under tests that start children
        // meanwhile.
        let path = try #require(getenv("PATH").map { String(cString: $0) })
        func lines(changing changes: [String: String?]) throws -> [Substring] {
            var launch = Launch("env")
            launch.environment = changes
            launch.standardOutput = .text(limit: 1 << 20)
            return try ChildProcess.run(launch, within: .seconds(5)).output.split(separator: "\n")
        }
        let kept = try lines(changing: ["SCREENRELAY_TEST_NEW": "new"])
        #expect(kept.contains("SCREENRELAY_TEST_NEW=new") && kept.contains("PATH=\(path)"))
        let changed = try lines(changing: ["PATH": "/changed"])
        #expect(changed.filter { $0.hasPrefix("PATH=") } == ["PATH=/changed"])
        #expect(changed.count > 1)
        let gone = try lines(changing: ["PATH": nil])
        #expect(!gone.contains { $0.hasPrefix("PATH=") })
        #expect(gone.count == changed.count - 1)
    }

    @Test("or only what was named of it")
    func namedEnvironment() throws {
        let path = try #require(getenv("PATH").map { String(cString: $0) })
        #expect(try fileBytes("/proc/self/environ").split(separator: 0).count > 1, "others that it must not get")
        var launch = Launch("env")
        launch.inheritedVariables = ["PATH", "SCREENRELAY_TEST_ABSENT"]
        launch.environment = ["SCREENRELAY_TEST_NEW": "new"]
        launch.standardOutput = .text(limit: 1000)
        let output = try ChildProcess.run(launch, within: .seconds(5)).output
        #expect(output == "PATH=\(path)\nSCREENRELAY_TEST_NEW=new\n")
    }

    @Test("signals that we ignore or block have their default action in the child")
    func signalsReset() throws {
        // Of the whole test process, and so one that nobody else uses: SIGUSR1 is what pauses a capture.
        signal(SIGUSR2, SIG_IGN)
        defer { signal(SIGUSR2, SIG_DFL) }
        let result = try ChildProcess.run(Launch("sh", ["-c", "kill -USR2 $$"]), within: .seconds(5))
        #expect(result.status == .signaled(SIGUSR2))
    }

    @Test("a child starts in the folder that was asked for")
    func folder() throws {
        var launch = Launch("pwd")
        launch.workingFolder = "/"
        launch.standardOutput = .text(limit: 100)
        #expect(try ChildProcess.run(launch, within: .seconds(5)).output == "/\n")
    }

    @Test("a child that outlasts its limit is killed and reported so")
    func outlasting() throws {
        #expect(try ChildProcess.run(Launch("sleep", ["60"]), within: .milliseconds(30)).status == nil)
    }

    @Test("what can't be started is an error by name")
    func errors() {
        #expect(throws: ProcessError.notFound(program: "no-such-program-here")) {
            try ChildProcess(Launch("no-such-program-here"))
        }
        #expect(throws: ProcessError.notFound(program: "/etc/passwd")) { try ChildProcess(Launch("/etc/passwd")) }
        #expect(throws: ProcessError.nulCharacter("a\0b")) { try ChildProcess(Launch("true", ["a\0b"])) }
        var launch = Launch("true")
        launch.descriptors = [1: 0]
        #expect(throws: ProcessError.reservedDescriptor(1)) { try ChildProcess(launch) }
    }
}

/// Lines as they came, on whichever thread.
private final class Received: Sendable {
    let lines = Mutex<[String]>([])
}
