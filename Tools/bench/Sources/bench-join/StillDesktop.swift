import Glibc
import Processes

/// A virtual screen with a still scene on it, and `screenrelay share`.
final class StillDesktop {
    /// The link that `share` has printed.
    let link: String
    private let children: [ChildProcess]
    private let share: ChildProcess

    /// Starts everything with the programs in the folder `programs`; `size` is `WIDTHxHEIGHT`.
    init(programs: String, size: String, scene: String) throws {
        var server = Launch("Xvfb", ["-displayfd", "1", "-screen", "0", size + "x24", "-nolisten", "tcp", "-noreset"])
        let screen = try Self.start(&server)
        let display = ":" + (try Self.line(of: screen, "the X server's display number") { !$0.isEmpty })
        var still = Launch(programs + "/screenrelay-scene", ["--display", display, "--scene", scene, "--still"])
        let drawn = try Self.start(&still)
        _ = try Self.line(of: drawn, "the scene") { $0 == "ready" }
        var launch = Launch(
            programs + "/screenrelay",
            ["share", "--display", display, "--listen", "127.0.0.1:0", "--udp-port", "0", "--log", "debug"])
        share = try Self.start(&launch)
        children = [screen, drawn]
        link = try Self.line(of: share, "the link") { $0.hasPrefix("http://") }
    }

    deinit {
        share.stop(within: .seconds(3))
        for child in children.reversed() { child.stop(within: .seconds(2)) }
    }

    /// How many key frames capture has made so far.
    var pictures: Int {
        (share.errorOutput?.text ?? "").split(separator: "\n").count { $0.contains("debug: key frame ") }
    }

    private static func start(_ launch: inout Launch) throws -> ChildProcess {
        launch.standardOutput = .text(limit: 64 * 1024)
        launch.standardError = .text(limit: 16 << 20)
        return try ChildProcess(launch)
    }

    /// Waits for the first complete line of the output for which `isWanted` returns true.
    private static func line(
        of child: ChildProcess, _ what: String, where isWanted: (Substring) -> Bool
    ) throws -> String {
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline {
            let lines = (child.output?.text ?? "").split(separator: "\n", omittingEmptySubsequences: false)
            if let found = lines.dropLast().first(where: isWanted) { return String(found) }
            if child.poll() != nil { break }
            poll(nil, 0, 5)
        }
        throw Missing(what: what, log: child.errorOutput?.text ?? "")
    }
}

/// A program did not print the line that it was waited for.
struct Missing: Error, CustomStringConvertible {
    let what: String
    let log: String
    var description: String { "\(what) did not come: \(log)" }
}
