import Glibc
import MediaTypes
import Signalling
import Synchronization
import TestSupport
import Testing
import Threading

@testable import ScreenRelayKit

@Suite("The supervisor of a capture", .serialized)
struct CaptureSupervisorTests {
    /// A host whose capture is a line of shell, which notes its starts in a file.
    private final class Scene {
        let folder: TemporaryFolder
        let host: ScreenRelayHost
        let failures = Failures()
        let supervisor: CaptureSupervisor

        final class Failures: Sendable {
            let codes = Mutex<[Int32]>([])
        }

        /// `script` finds its folder as working folder in `$0`, and its link under descriptor 3.
        init(
            _ script: String, isSound: Bool = false, first: [String] = [], log: EventLog = .silent,
            prepare: (ScreenRelayHost) throws -> Void = { _ in }
        ) throws {
            folder = try TemporaryFolder()
            host = try ScreenRelayHost(.anyPorts)
            try prepare(host)
            let link = try host.firstTrack.openLink(at: nil)
            let failures = self.failures
            let arguments = ["-c", "cd $0; echo $$ $(date +%s%N) $* >> starts; \(script)", folder.path]
            supervisor = try CaptureSupervisor(
                isSound ? .sound("/bin/sh", arguments) : .capture("/bin/sh", arguments, first: first),
                confinement: isSound ? .sound : CaptureConfinement(), link: link, log: log
            ) { code in failures.codes.withLock { $0.append(code) } }
        }

        deinit {
            supervisor.stop()
            host.stop()
        }

        /// The words that each start has noted: process, nanoseconds, arguments.
        var starts: [[String]] {
            let text = (try? fileBytes(folder.file("starts"))).map { String(decoding: $0, as: UTF8.self) } ?? ""
            return text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        }

        func waitForStarts(_ count: Int) throws -> [[String]] {
            try eventually("\(count) starts") { starts.count >= count ? starts : nil }
        }
    }

    @Test("a capture that ends is started again at once, and where it ends soon again, after a pause that doubles")
    func backOff() throws {
        let scene = try Scene("exit 1")
        let times = try scene.waitForStarts(5).map { Int64($0[1]) ?? 0 }
        for (index, pause) in [0, 100, 200, 400].enumerated() {
            let took = Interval(nanoseconds: times[index + 1] - times[index])
            #expect(took >= .milliseconds(Int64(pause)), "start \(index + 2)")
        }
        #expect(scene.failures.codes.withLock { $0.isEmpty })
    }

    @Test(
        "a capture that can't even start is not tried again: its exit code is handed on, once",
        arguments: [
            Int32(64), 69, 77,
        ])
    func failure(_ code: Int32) throws {
        let scene = try Scene("exit \(code)")
        try eventually("the failure", holds: { scene.failures.codes.withLock { $0 } == [code] })
        #expect(scene.starts.count == 1)
    }

    @Test("its exit code is handed on also where the track had another source first")
    func otherSource() throws {
        let track = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
        let scene = try Scene("exit 69") { host in
            #expect(host.firstTrack.publish(track))
            track.end(reason: "it was a test")
        }
        try eventually("the failure", holds: { scene.failures.codes.withLock { $0 } == [69] })
        #expect(scene.starts.count == 1)
    }

    @Test("one that ran before is started again whatever its code: a screen may come back")
    func later() throws {
        let scene = try Scene("if [ $(wc -l < starts) = 1 ]; then kill -9 $$; fi; exit 69")
        _ = try scene.waitForStarts(3)
        #expect(scene.failures.codes.withLock { $0.isEmpty })
    }

    @Test(
        "one whose window is gone, or that its user has stopped, is not started again, though it ran before",
        arguments: [Int32(66), 75])
    func decided(_ code: Int32) throws {
        let scene = try Scene("if [ $(wc -l < starts) = 1 ]; then kill -9 $$; fi; exit \(code)")
        try eventually("the failure", holds: { scene.failures.codes.withLock { $0 } == [code] })
        #expect(scene.starts.count == 2)
    }

    @Test("arguments for the first start are given until a capture has reached the link")
    func firstArguments() throws {
        let scene = try Scene("exit 1", first: ["--ask"])
        let starts = try scene.waitForStarts(3)
        #expect(starts.allSatisfy { $0.contains("--ask") })
    }

    @Test(
        "a capture of sound is tried again whatever its end was, after a pause that doubles, and reported once",
        arguments: [Int32(64), 66, 69, 71])
    func sound(_ code: Int32) throws {
        final class Lines: Sendable {
            let all = Mutex<[String]>([])
        }
        let noted = Lines()
        let log = EventLog(upTo: .warning) { _, line in noted.all.withLock { $0.append(line) } }
        let scene = try Scene("exit \(code)", isSound: true, log: log)
        let times = try scene.waitForStarts(5).map { Int64($0[1]) ?? 0 }
        for (index, pause) in [0, 100, 200, 400].enumerated() {
            let took = Interval(nanoseconds: times[index + 1] - times[index])
            #expect(took >= .milliseconds(Int64(pause)), "start \(index + 2)")
        }
        #expect(scene.failures.codes.withLock { $0.isEmpty })
        let ends = noted.all.withLock { lines in lines.filter { $0.contains("ended") } }
        #expect(ends == ["screenrelay-sound ended (exit status \(code)); restarting it at once"])
    }

    @Test("the pause before a capture of sound is tried again grows up to 30 s")
    func longestPause() {
        let longest = SupervisedProgram.sound("/bin/sh", []).maxPause
        var pause = Interval.zero
        let pauses = (0..<11).map { _ in
            pause = CaptureSupervisor.longer(pause, atMost: longest)
            return pause.milliseconds
        }
        #expect(pauses == [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000])
    }

    @Test("it gets a link to its host under the descriptor that it is told")
    func link() throws {
        // The descriptor doesn't block: a read before the greeting is there fails.
        let scene = try Scene("until head -c 1 <&3 > first && [ -s first ]; do sleep 0.02; done; exec sleep 60")
        let starts = try scene.waitForStarts(1)
        #expect(starts[0].dropFirst(2) == ["--link", "fd:3"])
        try eventually("the host's greeting", holds: { (try? fileBytes(scene.folder.file("first"))) == [0x26] })
    }

    @Test("a signal to its host's process group, as a terminal's Ctrl-C sends it, does not reach it")
    func processGroup() throws {
        let scene = try Scene("exec sleep 60")
        let process = try #require(try scene.waitForStarts(1).first.flatMap { Int32($0[0]) })
        #expect(getpgid(process) == process)
        #expect(getpgid(process) != getpgrp())
    }

    @Test(
        "it ends with its supervisor, even if it won't hear of it, and before the host forgets it",
        arguments: ["", "trap '' TERM; "])
    func end(_ trap: String) throws {
        // Who waited for its own end, a minute away at least, would find it noted.
        let scene = try Scene(
            trap + "i=0; while [ $i -lt 1200 ]; do sleep 0.05; i=$((i + 1)); done; echo > ended")
        let process = try #require(try scene.waitForStarts(1).first.flatMap { Int32($0[0]) })
        #expect(kill(process, 0) == 0)
        scene.supervisor.stop()
        scene.supervisor.stop()
        #expect(kill(process, 0) != 0)
        #expect(access(scene.folder.file("ended"), F_OK) != 0)
        #expect(scene.starts.count == 1)
    }
}
