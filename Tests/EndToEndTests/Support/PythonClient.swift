import Foundation
import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

/// One of the clients in `Clients/`, which are written only from the protocols' specifications: a Python program that
/// reports what happens to it, one JSON object a line, each with a key `event`.
///
/// The program ends when this object is released.
final class PythonClient {
    let child: ChildProcess
    private let name: String

    /// The environments that `Tools/python` makes, named after their lists of packages.
    enum Environment: String {
        case rtc
        case socketio4
        case socketio5
        case openapi
        /// Debian's own Python, which has GStreamer.
        case debian
    }

    /// Whether this environment is there.
    static func isAvailable(_ environment: Environment) -> Bool { access(interpreter(environment), X_OK) == 0 }

    /// Whether all environments are there; a test that needs one says so, and `Tools/test` makes them.
    static var isAvailable: Bool {
        [Environment.rtc, .socketio4, .socketio5].allSatisfy { access(interpreter($0), X_OK) == 0 }
    }

    /// Whether GStreamer's WebRTC is there, with all that its client needs.
    static var hasGStreamer: Bool {
        let launch = Launch("/usr/bin/python3", ["\(folder)/whip_gstreamer.py", "--check"])
        guard let check = try? ChildProcess(launch) else { return false }
        return (try? eventually("GStreamer's answer") { check.poll() }) == .exited(0)
    }

    /// Starts `Clients/NAME.py`; `prefix` is a command that runs it, and `variables` are more of its environment's.
    init(
        _ name: String, in environment: Environment, _ arguments: [String], prefix: [String] = [],
        environment variables: [String: String] = [:]
    ) throws {
        self.name = name
        let words = prefix + [Self.interpreter(environment), "-u", "\(Self.folder)/\(name).py"] + arguments
        var launch = Launch(words[0], Array(words.dropFirst()))
        launch.environment = ["PYTHONDONTWRITEBYTECODE": "1"]
        for (name, value) in variables { launch.environment[name] = .some(value) }
        launch.standardInput = .pipe
        launch.standardOutput = .text(limit: 4 << 20)
        launch.standardError = .text(limit: 1 << 20)
        child = try ChildProcess(launch)
    }

    deinit { _ = child.stop() }

    /// The events that it has reported so far.
    var events: [[String: Any]] {
        // The last piece has no line feed yet.
        (child.output?.text ?? "").split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
    }

    /// Waits for the first event called `event` for which `isWanted` holds.
    @discardableResult
    func event(
        _ event: String, within limit: Interval = .seconds(90), where isWanted: ([String: Any]) -> Bool = { _ in true }
    ) throws -> [String: Any] {
        try eventually("'\(event)' of \(name)", within: limit) {
            if let found = events.first(where: { $0["event"] as? String == event && isWanted($0) }) { return found }
            if let status = child.poll(), child.output?.hasEnded == true {
                throw ProgramEnded(status: status, log: child.errorOutput?.text ?? "")
            }
            return nil
        }
    }

    /// Sends it a command, one line.
    func tell(_ line: String) throws { try child.write(Array("\(line)\n".utf8)) }

    private static let folder = "\(packageRoot)/Tests/EndToEndTests/Clients"

    private static func interpreter(_ environment: Environment) -> String {
        environment == .debian
            ? "/usr/bin/python3" : "\(packageRoot)/.build/python/\(environment.rawValue)/bin/python"
    }
}
