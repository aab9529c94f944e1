import CommandLine
import Glibc
import MediaTypes
import Processes

/// What the user has chosen on the screen for `share --pick`, which screenrelay-capture asks for.
struct PickedTarget {
    let target: CaptureTarget
    /// "window 'xterm'"
    let description: String

    /// Lets the user choose, however long that takes. Nil if there is no choice; `code` says why, and a line was
    /// printed.
    init?(_ program: String, _ options: CaptureOptions, code: inout Int32) {
        let words =
            ["--pick-only", "--source", options.system.rawValue] + (options.display.map { ["--display", $0] } ?? [])
        var launch = Launch(program, words)
        launch.standardOutput = .text(limit: 1 << 12)
        do throws(ProcessError) {
            let (status, output, _) = try ChildProcess.run(launch, within: .seconds(24 * 3600))
            guard case .exited(0) = status else {
                if case .exited(let reason) = status { code = reason } else { code = ExitCode.cancelled.rawValue }
                return nil
            }
            guard let picked = Self.read(output) else {
                code = Program.fail("the program \(program) has given no choice", .software)
                return nil
            }
            (target, description) = picked
        } catch {
            code = Program.fail("--pick: \(error)", .system)
            return nil
        }
    }

    private static func read(_ output: String) -> (CaptureTarget, String)? {
        let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 2, let space = lines[0].firstIndex(of: " ") else { return nil }
        let place = String(lines[0][space...].dropFirst())
        let target: CaptureTarget
        if let area = try? ValueFormat.region.read(place, option: "") {
            target = .region(area)
        } else if let window = try? ValueFormat.window.read(place, option: "") {
            target = .window(window)
        } else {
            return nil
        }
        return (target, "\(target.kindName) '\(lines[1])'")
    }
}
