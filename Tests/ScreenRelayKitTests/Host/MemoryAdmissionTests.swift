import Glibc
import MediaTypes
import Synchronization
import TestSupport
import Testing
import Threading

@testable import ScreenRelayKit

@Suite("The memory for another session")
struct MemoryAdmissionTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Makes a group's folder, whose parent exists, with these files.
    private func make(_ group: String, _ files: [String: String]) throws {
        mkdir(folder.file(group), 0o700)
        for (name, text) in files { try folder.write("\(group)/\(name)", Array((text + "\n").utf8)) }
    }

    /// The limits of a process in these groups, with these mounts.
    private func limits(_ groups: String, _ mounts: [String]) throws -> MemoryLimits {
        MemoryLimits(
            groups: try folder.write("own", Array((groups + "\n").utf8)),
            mounts: try folder.write("mounts", Array(mounts.joined(separator: "\n").utf8)))
    }

    @Test("a group of version 2 and its parents are read, each time, without the cache of files")
    func versionTwo() throws {
        try make("sys", [:])
        try make("sys/a.slice", ["memory.max": "max", "memory.current": "900000000"])
        try make(
            "sys/a.slice/host.service",
            [
                "memory.max": "100000000", "memory.current": "61000000",
                "memory.stat": "anon 1\ninactive_file 15000000\nactive_file 5000000\nslab_reclaimable 1000000",
            ])
        let memory = try limits(
            "0::/a.slice/host.service",
            [
                "29 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw",
                "30 29 0:26 / \(folder.path)/sys rw,nosuid shared:9 master:1 - cgroup2 cgroup2 rw,nsdelegate",
            ])
        let own = LimitedGroup(
            path: folder.path + "/sys/a.slice/host.service", limit: 100_000_000, used: 40_000_000)
        #expect(memory.tightestGroup() == own)
        try make("sys/a.slice", ["memory.max": "950000000"])
        let parent = LimitedGroup(path: folder.path + "/sys/a.slice", limit: 950_000_000, used: 900_000_000)
        #expect(memory.tightestGroup() == parent)
        try make("sys/a.slice", ["memory.current": "500000000"])
        #expect(memory.tightestGroup() == own)
        // The process is moved.
        try make("sys/b", ["memory.max": "7000000", "memory.current": "9000000"])
        try folder.write("own", Array("0::/b\n".utf8))
        #expect(memory.tightestGroup() == LimitedGroup(path: folder.path + "/sys/b", limit: 7_000_000, used: 9_000_000))
    }

    @Test("a group of version 1 is found below the group that is mounted, at a place with a space in its name")
    func versionOne() throws {
        try make(
            "a b",
            [
                "memory.limit_in_bytes": "64000000", "memory.usage_in_bytes": "50000000",
                "memory.stat": "inactive_file 1\ntotal_inactive_file 10000000\ntotal_active_file 0",
            ])
        try make(
            "a b/host", ["memory.limit_in_bytes": "9223372036854771712", "memory.usage_in_bytes": "50000000"])
        let memory = try limits(
            "7:pids:/x\n5:cpu,memory:/docker/ab/host\n0::/docker/ab/host",
            [
                "31 29 0:27 / \(folder.path) rw - cgroup cgroup rw,pids",
                "32 29 0:28 /docker/ab \(folder.path)/a\\040b ro - cgroup cgroup rw,cpu,memory",
            ])
        let mounted = LimitedGroup(path: folder.path + "/a b", limit: 64_000_000, used: 40_000_000)
        #expect(memory.tightestGroup() == mounted)
        try make("a b", ["memory.limit_in_bytes": "9223372036854771712"])
        let unlimited = try #require(memory.tightestGroup())
        #expect(unlimited.room > 1 << 61, "this number means no limit")
    }

    @Test(
        "there is no limit where no group of ours is mounted or can be read",
        arguments: ["0::/sys", "0::/sys/../secret", "0::/system", "0::/nowhere", "1:name=systemd:/sys", "", "0"])
    func noLimit(groups: String) throws {
        for group in ["sys", "secret", "system"] {
            try make(group, ["memory.max": "1000000", "memory.current": "1000000"])
        }
        try make("sys", ["memory.max": "max"])
        let mounts = ["30 29 0:26 /sys \(folder.path)/sys rw - cgroup2 cgroup2 rw", "30 29 0:26 /", "-", ""]
        #expect(try limits(groups, mounts).tightestGroup() == nil)
        let nothing = MemoryLimits(groups: folder.file("nothing"), mounts: folder.file("nothing"))
        #expect(nothing.tightestGroup() == nil)
    }

    /// What the admission reads, and its clock.
    private final class Machine: Sendable {
        struct State {
            var now = MonotonicTime(nanoseconds: 5_000_000_000_000)
            var group: LimitedGroup?
            var readings = 0
            var warnings: [String] = []
        }

        let state = Mutex(State())

        func admission() -> MemoryAdmission {
            MemoryAdmission(
                log: EventLog { level, line in
                    #expect(level == .warning)
                    self.state.withLock { $0.warnings.append(line) }
                }, clock: { self.state.withLock { $0.now } },
                read: {
                    self.state.withLock { state in
                        state.readings += 1
                        return state.group
                    }
                })
        }

        /// Sets the MiB in use of a group that may use 100 MiB, 8 of which are the reserve.
        func use(_ mebibytes: UInt64) {
            state.withLock { $0.group = LimitedGroup(path: "/g", limit: 100 << 20, used: mebibytes << 20) }
        }

        func pass(_ interval: Interval) { state.withLock { $0.now = $0.now + interval } }
    }

    @Test("without a limit every session is admitted, and many at once don't read the files each time")
    func unlimited() {
        let machine = Machine()
        let admission = machine.admission()
        for _ in 0..<1000 { #expect(admission.refusal() == nil) }
        #expect(machine.state.withLock { $0.readings } == 1)
        machine.pass(MemoryAdmission.readInterval)
        #expect(admission.refusal() == nil)
        #expect(machine.state.withLock { $0.readings } == 2)
        #expect(machine.state.withLock { $0.warnings } == [])
    }

    @Test("a session is refused while it would use the reserve, with one warning in all")
    func limited() throws {
        let machine = Machine()
        let admission = machine.admission()
        machine.use(91)
        #expect(admission.refusal() == nil)
        for used: UInt64 in [92, 99, 100, 300] {
            machine.use(used)
            machine.pass(MemoryAdmission.settling)
            #expect(admission.refusal() != nil, "\(used) MiB")
        }
        machine.use(50)
        machine.pass(MemoryAdmission.readInterval)
        #expect(admission.refusal() == nil)
        machine.use(99)
        machine.pass(MemoryAdmission.readInterval)
        #expect(admission.refusal() != nil)
        let warnings = machine.state.withLock { $0.warnings }
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains("/g uses 92 MiB of memory, and its limit is 100 MiB") == true)
    }

    @Test("sessions that have just been admitted count before the memory that they use shows")
    func burst() {
        let machine = Machine()
        let admission = machine.admission()
        machine.use(82)
        var admitted = 0
        for _ in 0..<100 {
            machine.pass(.milliseconds(10))
            if admission.refusal() == nil { admitted += 1 }
        }
        #expect(admitted == 10)
        machine.pass(MemoryAdmission.settling)
        #expect(admission.refusal() == nil)
    }
}
