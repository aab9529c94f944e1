import BrowserDriver
import Glibc
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

/// The tests that run the real programs without a browser. One runs at a time, in parallel with one of
/// `EndToEndInBrowser` and one of `EndToEndBesideBrowser`: each waits for other processes most of the time.
@Suite("End to end", .serialized, OwnThreads())
enum EndToEnd {
    /// Whether the programs are built and an X server is available.
    static var isPossible: Bool {
        VirtualScreen.isAvailable
            && ["screenrelay", "screenrelay-capture", "screenrelay-scene"].allSatisfy { builtProgram($0) != nil }
    }

    /// Whether a browser is available, too.
    static var hasBrowser: Bool { isPossible && Browser.isAvailable }
}

/// The tests of the page in a real browser, one at a time.
@Suite("End to end in a browser", .serialized, OwnThreads())
enum EndToEndInBrowser {}

/// The tests of the programs that a browser watches, and others that take long, one at a time.
@Suite("End to end beside a browser", .serialized, OwnThreads())
enum EndToEndBesideBrowser {}

/// A desktop with a scene on it, and the programs that share it: `share`, or `host` and `capture` apart.
///
/// All of them end when this object is released.
final class SharedDesktop {
    let screen: VirtualScreen
    /// The scene's program.
    let scene: RunningProgram
    /// `screenrelay share` or `screenrelay host`.
    private(set) var host: RunningProgram
    /// `screenrelay capture`, if it runs apart from the host.
    private(set) var capture: RunningProgram?
    /// The room's link, as the host printed it.
    private(set) var link: String
    /// The folder of the host's socket, if the capture runs apart.
    let folder: TemporaryFolder

    private var hostArguments: [String] = []
    private var hostPrefix: [String] = []

    /// Which program starts first if they run apart.
    enum Order: CaseIterable {
        case hostFirst, captureFirst
    }

    private static let size = PictureSize(width: 640, height: 480)

    /// Starts `screenrelay share` over a scene of patches. `inside` is the network that the host runs in, and `prefix`
    /// a command that runs it there.
    init(
        scene sceneOptions: [String] = [], options: [String] = [], size: PictureSize = SharedDesktop.size,
        inside network: LossyNetwork? = nil, prefix: [String] = []
    ) throws {
        folder = try TemporaryFolder()
        screen = try VirtualScreen(size)
        scene = try Self.startScene(on: screen, sceneOptions)
        hostArguments = ["share", "--display", screen.name] + LinkSocket.hostOptions + options
        hostPrefix = (network?.prefix ?? []) + prefix
        host = try RunningProgram("screenrelay", hostArguments, prefix: hostPrefix)
        link = try host.printedLink()
    }

    /// Starts `screenrelay host` and `screenrelay capture` apart, over a socket in a folder of their own. `hostOptions`
    /// are more options for the host; with `captureTo`, the capture connects to another host, at that address.
    init(
        apart order: Order, scene sceneOptions: [String] = [], hostOptions: [String] = [],
        captureTo other: String? = nil
    ) throws {
        folder = try TemporaryFolder()
        screen = try VirtualScreen(Self.size)
        scene = try Self.startScene(on: screen, sceneOptions)
        let address = "unix:" + folder.file("s.sock")
        let early = order == .captureFirst ? try Self.startCapture(screen, address) : nil
        // The capture has looked for its host in vain before the host is there.
        if let early { try early.waitForLog("waiting for it") }
        self.hostArguments = ["host", "--link", address] + LinkSocket.hostOptions + hostOptions
        host = try RunningProgram("screenrelay", hostArguments)
        link = try host.printedLink()
        capture = try early ?? Self.startCapture(screen, other ?? address)
    }

    deinit { stop() }

    /// Starts the capture again, if it runs apart.
    func restartCapture() throws {
        capture = try Self.startCapture(screen, "unix:" + folder.file("s.sock"))
    }

    /// Starts `share` or `host` again, with the same options.
    func restartHost() throws {
        host = try RunningProgram("screenrelay", hostArguments, prefix: hostPrefix)
        link = try host.printedLink()
    }

    /// The process that captures now: our own child, or the one that `share` has reported last.
    func captureProcessID() throws -> Int32 {
        if let capture { return capture.child.processID }
        return try eventually("a capture process") { host.captureProcessIDs.last }
    }

    /// Ends all programs. Idempotent.
    func stop() {
        capture?.stop()
        host.stop()
        scene.stop()
        screen.close()
    }

    private static func startScene(on screen: VirtualScreen, _ options: [String]) throws -> RunningProgram {
        let scene = try RunningProgram(
            "screenrelay-scene", ["--display", screen.name, "--scene", "patches"] + options)
        try eventually("the scene") { scene.output.contains("ready") ? () : nil }
        return scene
    }

    private static func startCapture(_ screen: VirtualScreen, _ address: String) throws -> RunningProgram {
        try RunningProgram(
            "screenrelay", ["capture", "--link", address, "--display", screen.name, "--log", "debug"])
    }
}

/// One of the package's programs while it runs, and its output.
final class RunningProgram {
    let child: ChildProcess

    /// Without a home no token is kept and no settings are read, so tests leave nothing in the user's home.
    static let environment: [String: String?] = ["HOME": nil, "XDG_STATE_HOME": nil, "XDG_CONFIG_HOME": nil]

    /// Starts a program that was built beside the tests; `prefix` is a command that runs it, and `descriptors` are
    /// handed down by its numbers.
    init(
        _ name: String, _ arguments: [String], prefix: [String] = [], folder: String? = nil,
        input: Launch.Input = .null, descriptors: [Int32: Int32] = [:]
    ) throws {
        let words = prefix + [try #require(builtProgram(name))] + arguments
        var launch = Launch(words[0], Array(words.dropFirst()))
        launch.workingFolder = folder
        launch.environment = Self.environment
        launch.standardInput = input
        launch.descriptors = descriptors
        launch.standardOutput = .text(limit: 1 << 20)
        launch.standardError = .text(limit: 8 << 20)
        child = try ChildProcess(launch)
    }

    /// Makes a host take any free ports.
    static let anyPorts = ["--listen", "127.0.0.1:0", "--udp-port", "0"]

    /// Starts `screenrelay host` on any ports; it waits for a capture at `address`.
    static func host(_ address: String, _ options: [String] = []) throws -> RunningProgram {
        try RunningProgram("screenrelay", ["host", "--link", address] + anyPorts + options)
    }

    deinit { stop() }

    /// What it has written to standard output.
    var output: String { child.output?.text ?? "" }
    /// What it, and what it has started, have written to standard error.
    var log: String { child.errorOutput?.text ?? "" }

    /// Suspends it, without telling it.
    func freeze() { child.terminate(SIGSTOP) }
    /// Lets it go on.
    func thaw() { child.terminate(SIGCONT) }

    /// Ends it, with SIGTERM first, and takes its last words. Idempotent. Outputs and recordings may take some seconds
    /// to end.
    @discardableResult
    func stop(within limit: Duration = .seconds(90)) -> ProcessStatus? {
        thaw()
        let status = child.stop(within: limit)
        for pipe in [child.output, child.errorOutput] { pipe?.waitForEnd(within: .seconds(2)) }
        return status
    }

    /// The link that `share` or `host` prints.
    func printedLink() throws -> String {
        try eventually("the link", within: .seconds(90)) {
            if let status = child.poll() {
                child.errorOutput?.waitForEnd(within: .seconds(1))
                throw ProgramEnded(status: status, log: log)
            }
            let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
            // The last piece has no line feed yet.
            return lines.dropLast().first { $0.hasPrefix("http://") || $0.hasPrefix("https://") }.map(String.init)
        }
    }

    /// The token for presenters, if `share` or `host` was asked to print it (`--presenters`).
    func presentersToken() throws -> String {
        try eventually("the presenters' token") {
            let line = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().first {
                $0.hasPrefix("To publish: ")
            }
            return line?.split(separator: " ").last.map(String.init)
        }
    }

    /// What it prints in a line after these words.
    func printed(_ begin: String) throws -> String {
        try eventually("the line '\(begin)'") {
            // The last piece has no line feed yet.
            let lines = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            return lines.first { $0.hasPrefix(begin) }.map { String($0.dropFirst(begin.count)) }
        }
    }

    /// Waits until the log contains `text` that many times.
    func waitForLog(_ text: String, count: Int = 1, within limit: Interval = .seconds(90)) throws {
        try eventually("'\(text)' in the log", within: limit) {
            occurrences(of: text) >= count ? () : nil
        }
    }

    /// How often the log contains `text`.
    func occurrences(of text: String) -> Int {
        log.split(separator: "\n").count { $0.contains(text) }
    }

    /// The capture processes that `share` has started, in order.
    var captureProcessIDs: [Int32] {
        let words = "capture is process "
        return log.split(separator: "\n").compactMap { line in
            line.range(of: words).flatMap { Int32(line[$0.upperBound...]) }
        }
    }
}

/// A program ended that should have gone on running.
struct ProgramEnded: Error, CustomStringConvertible {
    let status: ProcessStatus
    let log: String
    var description: String { "the program has ended (\(status)): \(log)" }
}

extension Substring {
    /// Where `text` begins and ends in the line.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
