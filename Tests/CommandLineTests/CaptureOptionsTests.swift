import CommandLine
import LinkTransport
import MediaTypes
import RecordingFiles
import Testing
import Threading

@Suite("A capture's options")
struct CaptureOptionsTests {
    private let command = Command(
        name: "", summary: "Captures.",
        options: CaptureOptions.options + [Option(long: "link", value: .required("LINK"), help: "where")])

    @Test(
        "what share hands on is read by capture as the same",
        arguments: [
            [], ["--display", ":7"], ["-f", "15", "-b", "2.5M"], ["--display=:0.1", "--bitrate", "600k"],
            ["--fps", "15-30", "--bitrate", "1M-8M"], ["--monitor", "DP-1"], ["--monitor", "-odd one"],
            ["--window", "0x1C00003"], ["--window", "--help"],
            ["--region", "1280x720+0+40"], ["--hide", "0x7", "--hide=Pass words", "--hide", "0xffffffff"],
            ["--scale", "50%"], ["--scale=1280x720"],
            ["--size", "1280x720"], ["--pick"], ["--key-frames", "10s"], ["--key-frames", "0.5s"], ["--key-frames=300"],
            ["--chroma", "444"], ["--chroma", "444,420"],
            ["--source", "x11"], ["--source", "wayland"], ["--source", "wayland", "--ask", "--window", "any"],
            ["--source", "wayland", "--monitor=any"], ["--source", "wayland", "--monitor", "new", "--size", "800x600"],
            ["--pause-when-locked"], ["--constant-qp", "0"], ["--constant-qp", "51", "--no-refinement"],
        ])
    func handedOn(arguments: [String]) throws {
        let options = try CaptureOptions(command.parse(arguments, program: "share"))
        #expect(try CaptureOptions(command.parse(options.arguments, program: "capture")) == options)
    }

    @Test("the name of a choice is handed on by share, which has no option for it")
    func choice() throws {
        var options = try CaptureOptions(command.parse(["--source", "wayland"], program: "share"))
        #expect(options.choice == nil)
        options.choice = "demo@[::]:8080"
        #expect(try CaptureOptions(Command.captureProgram.parse(options.arguments, program: "capture")) == options)
        #expect(throws: UsageError.self) { try command.parse(options.arguments, program: "share") }
    }

    @Test("without options, DISPLAY is captured at 30 frames per second, at a bit rate that follows the paths")
    func defaults() throws {
        let options = try CaptureOptions(command.parse([], program: "share"))
        #expect(options.display == nil)
        #expect(options.framesPerSecond == 30)
        #expect(options.bitRate == nil)
        #expect(options.target == .screen)
        #expect(options.hidden.isEmpty)
        #expect(options.scale == nil)
        #expect(options.keyFrames == nil)
        #expect(options.chroma == .yuv420)
        #expect(!options.pausesWhenLocked)
        #expect(options.qp == nil)
        #expect(options.refines)
    }

    @Test("a lowest frame rate and a first bit rate stand before the highest ones")
    func spans() throws {
        let options = try CaptureOptions(command.parse(["--fps=15-30", "--bitrate=600k-8M"], program: "share"))
        #expect(options.lowestFramesPerSecond == 15 && options.framesPerSecond == 30)
        #expect(options.firstBitRate?.bitsPerSecond == 600_000 && options.bitRate?.bitsPerSecond == 8_000_000)
        for word in [
            "--fps=30-15", "--fps=0-30", "--fps=15-", "--bitrate=8M-1M", "--bitrate=-4M", "--bitrate=1M-2M-4M",
        ] {
            #expect(throws: UsageError.self) { try CaptureOptions(command.parse([word], program: "share")) }
        }
    }

    @Test("what is captured is a monitor, a window by its number or its words, or a part of the screen")
    func targets() throws {
        func target(_ arguments: String...) throws -> CaptureTarget {
            try CaptureOptions(command.parse(arguments, program: "share")).target
        }
        #expect(try target("--monitor", "HDMI-1") == .monitor("HDMI-1"))
        #expect(try target("--window", "0x1c00003") == .window(.identifier(0x1c0_0003)))
        #expect(try target("--window", "Firefox") == .window(.title("Firefox")))
        #expect(try target("--region=64x48+7+0") == .region(PixelRectangle(x: 7, y: 0, width: 64, height: 48)))
        // The last of one kind counts, as with every option.
        #expect(try target("--window", "a", "--window", "b") == .window(.title("b")))
        for pair in [["--monitor", "--window"], ["--window", "--region"], ["--monitor", "--region"]] {
            let error = #expect(throws: UsageError.self) { try target(pair[0], "1x1+0+0", pair[1], "1x1+0+0") }
            #expect(error?.exitCode == .usage)
            #expect(error?.description.hasPrefix("\(pair[0]) and \(pair[1]) can't go together") == true)
        }
    }

    @Test(
        "what a Wayland desktop can't do is refused with what it can",
        arguments: [
            (["--display", ":0"], "--source x11"), (["--region", "64x48+0+0"], "--monitor any"),
            (["--hide", "0x7"], "--window any"), (["--pick"], "--ask"),
            (["--monitor", "DP-1"], "write --monitor any, or --monitor new"),
            (["--window", "Firefox"], "write --window any"), (["--window", "new"], "write --window any"),
        ])
    func desktop(arguments: [String], remedy: String) throws {
        let error = #expect(throws: UsageError.self) {
            try CaptureOptions(command.parse(["--source", "wayland"] + arguments, program: "share"))
        }
        #expect(error?.exitCode == .usage)
        #expect(error?.description.hasPrefix(arguments[0]) == true)
        #expect(error?.description.contains(remedy) == true)
    }

    @Test("a new monitor has the size of --size, otherwise 1920x1080, and only a Wayland desktop can make one")
    func newMonitor() throws {
        func size(_ arguments: String...) throws -> PictureSize? {
            try CaptureOptions(command.parse(arguments, program: "share")).newMonitorSize
        }
        #expect(
            try size("--source", "wayland", "--monitor", "new", "--size", "800x600")
                == PictureSize(width: 800, height: 600))
        let usual = PictureSize(width: 1920, height: 1080)
        #expect(try size("--source", "wayland", "--monitor", "new") == usual)
        #expect(try size("--source", "wayland", "--monitor", "new", "--scale", "50%") == usual)
        #expect(try size("--source", "wayland", "--monitor", "any", "--size", "800x600") == nil)
        #expect(try size("--source", "wayland") == nil)
        let error = #expect(throws: UsageError.self) { try size("--source", "x11", "--monitor", "new") }
        #expect(error?.exitCode == .usage)
        #expect(error?.description.hasPrefix("--monitor new: an X display can't get a new monitor") == true)
        #expect(error?.description.contains("--source wayland") == true)
    }

    @Test("an X display that is named is the one of an X server, whatever the session")
    func system() throws {
        func system(_ arguments: String...) throws -> DisplaySystem {
            try CaptureOptions(command.parse(arguments, program: "share")).system
        }
        #expect(try system("--display", ":0") == .x11)
        #expect(try system("--source", "x11") == .x11)
        #expect(try system("--source", "wayland") == .wayland)
        #expect(throws: UsageError.self) { try system("--source", "rtsp://camera/") }
    }

    @Test("the size of pictures is given by --scale or --size, not by both")
    func sizes() throws {
        func scale(_ arguments: String...) throws -> PictureScale? {
            try CaptureOptions(command.parse(arguments, program: "share")).scale
        }
        #expect(try scale("--size", "1280x720") == .exactly(PictureSize(width: 1280, height: 720)))
        let error = #expect(throws: UsageError.self) { try scale("--size", "640x480", "--scale", "50%") }
        #expect(error?.description.hasPrefix("--scale and --size can't go together") == true)
    }

    @Test("--hide may be repeated, and keeps its order")
    func hidden() throws {
        let options = try CaptureOptions(command.parse(["--hide", "0x7", "--hide", "b", "--hide=0x8"], program: "p"))
        #expect(options.hidden == [.identifier(7), .title("b"), .identifier(8)])
    }

    @Test("a capture's log has one more level, which is info to all else")
    func verbosity() throws {
        let command = Command(name: "", summary: "", options: [CaptureVerbosity.option(default: .warning)])
        func level(_ arguments: String...) throws -> CaptureVerbosity {
            try command.parse(arguments, program: "p").required("log", as: .choice)
        }
        #expect(try level() == .warning)
        #expect(try level("--log", "rate") == .rate)
        #expect(CaptureVerbosity.rate.level == .info)
        for level in EventLog.Level.allCases { #expect(CaptureVerbosity(rawValue: level.rawValue)?.level == level) }
    }

    @Test("a link is a socket's path, a TCP port or a descriptor, and anything else is told what would be right")
    func link() throws {
        #expect(try command.parse(["--link", "fd:3"], program: "p").value("link", as: .link) == .descriptor(3))
        #expect(
            try command.parse(["--link", "tcp:[::1]:7300"], program: "p").value("link", as: .link)
                == .tcp(host: "::1", port: 7300))
        let error = #expect(throws: UsageError.self) {
            _ = try command.parse(["--link", "udp:1"], program: "p").value("link", as: .link)
        }
        #expect(error?.description.hasPrefix("--link udp:1: ") == true)
        #expect(error?.exitCode == .usage)
    }

    @Test("a link's failure ends a program by its kind")
    func exitCodes() {
        #expect(ExitCode(SocketError.notListening(path: "s").kind) == .unavailable)
        #expect(ExitCode(SocketError.permissionDenied(path: "s").kind) == .permission)
        #expect(ExitCode(SocketError.closed.kind) == .unavailable)
        #expect(ExitCode(SocketError.tokenFile(path: "t", reason: "", kind: .missing).kind) == .windowGone)
        #expect(ExitCode(SocketError.tokenFile(path: "t", reason: "", kind: .data).kind) == .badData)
        #expect(ExitCode(RecordingFileError.diskFull(path: "r", written: 1).kind) == .inputOutput)
        #expect(ExitCode(RecordingFileError.exists(path: "r").kind) == .cannotWrite)
        #expect(ExitCode(SocketError.system(call: "c", subject: "", code: 1).kind) == .system)
    }
}
