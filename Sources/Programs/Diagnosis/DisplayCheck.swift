import CLinux
import Glibc
import MediaTypes
import Processes
import ScreenRelayKit

/// Whether the display can be captured, what it lacks, and whether there is memory for pictures of its size; or whether
/// the desktop of a Wayland session can be shared.
///
/// The capture program does the looking (`--check`), because only it is linked with X libraries and PipeWire.
struct DisplayCheck {
    let plan: SharePlan

    func findings() -> [Finding] {
        guard let program = plan.captureProgram else {
            return [
                Finding(
                    "capture-program", "the program screenrelay-capture is not in this program's folder",
                    todo: "install or build all programs")
            ]
        }
        var launch = Launch(program, ["--check"] + plan.captureArguments)
        launch.standardOutput = .text(limit: 64 * 1024)
        launch.standardError = .text(limit: 64 * 1024)
        do throws(ProcessError) {
            let (status, output, errors) = try ChildProcess.run(launch, within: .seconds(plan.isDesktop ? 10 : 5))
            guard let status else {
                if plan.isDesktop { return [Self.silentPortal] }
                return [
                    Finding(
                        "display", "the X server of \(name) accepts our connection but doesn't answer within 5 s",
                        todo: "look whether it hangs, as 'xdpyinfo' shows")
                ]
            }
            guard status.isSuccess else { return [unusable(errors, status)] }
            return plan.isDesktop ? desktopFindings(in: output) : findings(in: output)
        } catch {
            return [Finding("capture-program", "\(error)", todo: "install or build all programs again")]
        }
    }

    /// The display in words.
    private var name: String { displayName.map { "display '\($0)'" } ?? "the display" }

    private var displayName: String? {
        let name = plan.display ?? getenv("DISPLAY").map { String(cString: $0) }
        return name.flatMap { $0.isEmpty ? nil : $0 }
    }

    // MARK: - A display that can't be captured

    private func unusable(_ errors: String, _ status: ProcessStatus) -> Finding {
        let line = errors.split(separator: "\n").last.map(String.init) ?? "screenrelay-capture: \(status)"
        if plan.isDesktop { return Finding("portal", line: Self.words(of: line)) }
        guard let displayName else {
            return Finding(
                "display", "no display is named, and the variable DISPLAY is not set",
                todo: "name one with --display, such as :0; 'screenrelay share --list' lists this machine's")
        }
        if line.contains("can't be opened") {
            if Self.hasServer(displayName) {
                return Finding(
                    "display", "the X server of \(name) refuses access",
                    todo: "run this as the user of that desktop, or set XAUTHORITY to that session's file")
            }
            return Finding(
                "display", "there is no X server for \(name)",
                todo: "start one, or name another display with --display; 'screenrelay share --list' shows those of "
                    + "this machine")
        }
        return Finding("display", line: Self.words(of: line))
    }

    /// A line of the capture program, without its name.
    private static func words(of line: String) -> String {
        line.firstRange(of: "screenrelay-capture: ").map { String(line[$0.upperBound...]) } ?? line
    }

    /// Whether a server listens at a display of this machine, such as `:0` or `:0.1`.
    private static func hasServer(_ display: String) -> Bool {
        guard display.hasPrefix(":"), let number = UInt16(display.dropFirst().prefix { $0 != "." }) else {
            return false
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "/tmp/.X11-unix/X\(number)".utf8) }
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return false }
        defer { close(socket) }
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    // MARK: - A display that can

    /// Reads the report: lines such as `size 1280 720` and `lacks DAMAGE`.
    func findings(in report: String) -> [Finding] {
        var findings: [Finding] = []
        var size: PictureSize?
        var unnoticed: [String] = []
        for line in report.split(separator: "\n") {
            let words = line.split(separator: " ")
            switch words.first {
            case "size":
                let numbers = words.dropFirst().compactMap { Int($0) }.filter { (1...65_535).contains($0) }
                if numbers.count == 2 { size = PictureSize(width: numbers[0], height: numbers[1]) }
            case "unnoticed": unnoticed += words.dropFirst().map(String.init)
            case "lacks": if words.count == 2 { findings.append(lacking(String(words[1]))) }
            case "remote":
                findings.append(
                    Finding(
                        "display-remote",
                        "\(name) is on another machine: its pixels are sent over the network uncompressed",
                        todo: "run screenrelay capture on that machine, and screenrelay host here"))
            default: break
            }
        }
        guard let size else { return [Self.otherVersion] }
        if !unnoticed.isEmpty { findings.append(unnoticedLocks(unnoticed)) }
        return findings + MemoryCheck(plan: plan, size: size).findings()
    }

    private static let otherVersion = Finding(
        "capture-program", "the program screenrelay-capture is of another version, and reports nothing",
        todo: "install or build all programs again")

    // MARK: - A Wayland desktop

    private static let silentPortal = Finding(
        "portal", "the desktop portal doesn't answer within 10 s",
        todo: "look with 'systemctl --user status xdg-desktop-portal' whether it hangs")

    /// Reads the report on a Wayland desktop: `sources monitor, window`, `lacks PipeWire`, `lacks WirePlumber`.
    func desktopFindings(in report: String) -> [Finding] {
        let lines = report.split(separator: "\n")
        guard lines.contains(where: { $0.hasPrefix("sources ") }) else { return [Self.otherVersion] }
        if lines.contains("lacks PipeWire") {
            return [
                Finding(
                    "pipewire",
                    "PipeWire, over which a Wayland desktop shares its screen, isn't running in this session",
                    todo: "start it with 'systemctl --user start pipewire wireplumber', or install these packages")
            ]
        }
        guard lines.contains("lacks WirePlumber") else { return [] }
        return [
            Finding(
                "pipewire",
                "PipeWire has no session manager, such as WirePlumber, without which no picture of a Wayland desktop "
                    + "arrives",
                todo: "start it with 'systemctl --user start wireplumber', or install this package")
        ]
    }

    // MARK: - Locks and extensions

    /// The locks that `--pause-when-locked` notices here, and the locks that it doesn't.
    private func unnoticedLocks(_ kinds: [String]) -> Finding {
        var noticed = ["screen lockers with their own windows"]
        var missed: [String] = []
        let session = "what a desktop such as GNOME tells logind"
        if kinds.contains("session") {
            missed.append(session + ", which knows no login session of \(name)")
        } else {
            noticed.append(session)
        }
        let saver = "the X server's screen saver"
        if kinds.contains("saver") {
            missed.append(saver + ", an extension that is missing")
        } else {
            noticed.append(saver)
        }
        return Finding(
            "display-lock",
            "--pause-when-locked notices \(noticed.joined(separator: " and ")), but not "
                + missed.joined(separator: ", and not "),
            todo: "pause by hand with 'screenrelay pause' if that matters here")
    }

    private func lacking(_ feature: String) -> Finding {
        let effect =
            switch feature {
            case "DAMAGE": "it doesn't tell what changes, so each picture is compared with the last one"
            case "MIT-SHM": "pixels can't be taken by shared memory files (version 1.2), which costs far more time"
            case "XFIXES": "neither changes nor the pointer's shape can be seen"
            case "RANDR": "changes of its size and its monitors aren't reported"
            case "XInputExtension": "the pointer has to be asked for its position again and again"
            default: "a part of what is captured needs it"
            }
        return Finding(
            "display-\(feature.lowercased())", "\(name) has no \(feature): \(effect)",
            todo: "start its X server with that extension, or update it")
    }
}
