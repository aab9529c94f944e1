import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

@Suite("What tests stand on")
struct SurroundingsTests {
    @Test("a temporary folder goes with all that is in it")
    func temporaryFolder() throws {
        var folder: TemporaryFolder? = try TemporaryFolder()
        let path = try #require(folder?.path)
        let file = try #require(try folder?.write("a", Array("text".utf8)))
        mkdir(path + "/b", 0o700)
        symlink("/", path + "/b/link")
        #expect(try fileBytes(file) == Array("text".utf8))
        folder = nil
        #expect(access(path, F_OK) == -1)
        #expect(access("/etc", F_OK) == 0)
    }

    @Test("each free port is another one, and a socket of either kind can be bound to one")
    func ports() throws {
        let ports = try (0..<10).map { _ in try freePort() }
        #expect(Set(ports).count == 10 && ports.allSatisfy { $0 < 32768 })
        for type in [SOCK_DGRAM, SOCK_STREAM] {
            let descriptor = socket(AF_INET, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            defer { close(descriptor) }
            #expect(try bindToLoopback(descriptor) > 1023)
        }
    }

    @Test("the package's own programs are found beside its tests, if they are built")
    func programs() throws {
        #expect(builtProgram("no-such-program") == nil)
        if let path = builtProgram("screenrelay-scene") {
            var launch = Launch(path, ["--version"])
            launch.standardOutput = .text(limit: 100)
            let result = try ChildProcess.run(launch, within: .seconds(5))
            #expect(result.output == "screenrelay-scene \(screenRelayVersion)\n")
        }
    }

    @Test(
        "a virtual screen can be had without an extension, and its end is reported",
        .enabled(if: VirtualScreen.isAvailable))
    func virtualScreen() throws {
        let screen = try VirtualScreen(.init(width: 320, height: 240), options: ["-extension", "DAMAGE"])
        #expect(screen.name.hasPrefix(":"))
        screen.close()
        #expect(throws: VirtualScreenError.self) {
            try VirtualScreen(.init(width: 320, height: 240), options: ["-no-such-option"])
        }
    }

    @Test("FFmpeg decodes a stream")
    func decode() throws {
        let result = try FFmpeg.decode(TestStreams.small.path, to: "yuv420p", input: ["-f", "h264"])
        #expect(result.status == .exited(0))
        #expect(result.bytes.count % (176 * 144 * 3 / 2) == 0 && !result.bytes.isEmpty)
    }
}
