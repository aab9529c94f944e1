import Glibc
import MediaTypes
import TestSupport
import Testing

@testable import ScreenRelayKit

@Suite("A capture's ceiling of memory")
struct CaptureMemoryTests {
    @Test(
        "is at least twice what was measured, and below 150 MB at 1920x1080",
        arguments: [
            (.init(width: 1280, height: 720), false, 27_700_000),
            (.init(width: 1920, height: 1080), false, 40_800_000),
            (.init(width: 2560, height: 1440), false, 54_900_000),
            (.init(width: 3840, height: 2160), false, 96_400_000),
            (.init(width: 1280, height: 720), true, 37_200_000),
            (.init(width: 1920, height: 1080), true, 61_100_000),
            (.init(width: 2560, height: 1440), true, 87_600_000),
            (.init(width: 3840, height: 2160), true, 166_200_000),
        ] as [(PictureSize, Bool, UInt64)])
    func sizes(size: PictureSize, hasFullChroma: Bool, measured: UInt64) throws {
        var expectation = CaptureMemoryExpectation()
        expectation.hasFullChroma = hasFullChroma
        let memory = CaptureMemory.bySize(expectation)
        let ceiling = try #require(memory.ceiling(for: size))
        #expect(ceiling >= measured * 2)
        if size.height <= 1080 { #expect(ceiling < 150_000_000) }
        let highest = try #require(memory.highestCeiling)
        #expect(highest >= ceiling)
    }

    @Test("counts what is read, not what is sent of it")
    func scaled() throws {
        let whole = CaptureMemory.bySize(CaptureMemoryExpectation()).ceiling(for: .init(width: 1920, height: 1080))
        var half = CaptureMemoryExpectation()
        half.pixelsReadForOneSent = 4
        #expect(CaptureMemory.bySize(half).ceiling(for: .init(width: 960, height: 540)) == whole)
        var atLeast = CaptureMemoryExpectation()
        atLeast.minPixels = 1920 * 1080
        #expect(CaptureMemory.bySize(atLeast).ceiling(for: .init(width: 96, height: 54)) == whole)
        // What a capture says of itself raises it no further than the largest screen.
        let most = CaptureMemory.bySize(half).ceiling(for: .init(width: 65535, height: 65535))
        #expect(most == CaptureMemory.bySize(half).highestCeiling)
        #expect(CaptureMemory.bytes(7).ceiling(for: nil) == 7)
        #expect(CaptureMemory.unlimited.ceiling(for: nil) == nil)
    }

    @Test("is kept by a control group where the memory controller works")
    func group() throws {
        let folder = try TemporaryFolder()
        try folder.write("cgroup.subtree_control", Array("cpu memory pids\n".utf8))
        // The kernel makes these with the folder.
        mkdir(folder.file("screenrelay-capture-7"), 0o700)
        for name in ["memory.max", "memory.swap.max", "cgroup.procs"] {
            try folder.write("screenrelay-capture-7/" + name, [])
        }
        try folder.write("screenrelay-capture-7/memory.events", Array("low 0\noom 3\noom_kill 2\n".utf8))
        // Of a host that was killed (no process has that number), of two that live, and of somebody else.
        let live = ["screenrelay-capture-1", "screenrelay-capture-\(getpid())", "screenrelay-capture-a"]
        for name in live + ["screenrelay-capture-2147483647"] { mkdir(folder.file(name), 0o700) }
        let group = try #require(MemoryGroup(in: folder.path, name: "7"))
        group.setCeiling(100_000_000)
        #expect(group.take(1234))
        #expect(group.kills == 2)
        #expect(try fileBytes(group.path + "/memory.max") == Array("100000000".utf8))
        #expect(try fileBytes(group.path + "/cgroup.procs") == Array("1234".utf8))
        #expect(access(folder.file("screenrelay-capture-2147483647"), F_OK) != 0)
        for name in live { #expect(access(folder.file(name), F_OK) == 0, "\(name)") }
        // Sound has a limit of its own.
        mkdir(folder.file("screenrelay-sound-7"), 0o700)
        try folder.write("screenrelay-sound-7/memory.max", [])
        let sound = try #require(MemoryGroup(in: folder.path, for: .soundServer, name: "7"))
        sound.setCeiling(64_000_000)
        #expect(try fileBytes(sound.path + "/memory.max") == Array("64000000".utf8))
        #expect(try fileBytes(group.path + "/memory.max") == Array("100000000".utf8))
    }

    @Test("is left to the watch where no group can be had, and nothing stays behind")
    func noGroup() throws {
        let folder = try TemporaryFolder()
        #expect(MemoryGroup(in: folder.path, name: "7") == nil)
        try folder.write("cgroup.subtree_control", Array("cpu pids\n".utf8))
        #expect(MemoryGroup(in: folder.path, name: "7") == nil)
        try folder.write("cgroup.subtree_control", Array("memory\n".utf8))
        #expect(MemoryGroup(in: folder.path, name: "7") == nil)
        #expect(access(folder.file("screenrelay-capture-7"), F_OK) != 0)
        #expect(MemoryGroup(in: folder.path + "/nowhere", name: "7") == nil)
    }
}
