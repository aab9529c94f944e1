import Processes

/// Whether the sound to share can be captured.
///
/// The program that captures sound does the looking (`--check`), because only it is linked with libpulse.
struct SoundCheck {
    let plan: SharePlan

    /// The program itself waits 5 s for the server.
    private static let timeout = Duration.seconds(8)
    /// The program's exit code if no server answers (`EX_UNAVAILABLE` of sysexits).
    private static let noServer = ProcessStatus.exited(69)

    func findings() -> [Finding] {
        guard let source = plan.soundSource else { return [] }
        guard let program = plan.soundProgram else {
            return [
                Finding(
                    "sound-program", "--sound: the program screenrelay-sound is not in this program's folder",
                    todo: "install or build all programs, or omit --sound")
            ]
        }
        var launch = Launch(program, ["--check", "--source", source])
        launch.standardOutput = .text(limit: 64 * 1024)
        launch.standardError = .text(limit: 64 * 1024)
        do throws(ProcessError) {
            let (status, output, errors) = try ChildProcess.run(launch, within: Self.timeout)
            guard let status else { return [unanswered("the PulseAudio server doesn't answer")] }
            if status.isSuccess { return findings(in: output) }
            let line = errors.split(separator: "\n").last.map(String.init) ?? "screenrelay-sound: \(status)"
            let words = line.firstRange(of: "screenrelay-sound: ").map { String(line[$0.upperBound...]) } ?? line
            return [status == Self.noServer ? unanswered(words) : Finding("sound-program", line: "--sound: \(words)")]
        } catch {
            return [Finding("sound-program", "--sound: \(error)", todo: "install or build all programs again")]
        }
    }

    private func unanswered(_ what: String) -> Finding {
        Finding(
            "sound-server", "--sound: \(what), so viewers would hear nothing",
            todo: "start one in this session with 'pulseaudio --start' or 'systemctl --user start pipewire-pulse', "
                + "or set PULSE_SERVER to its address")
    }

    /// Reads the report: lines such as `has sink` and `lacks microphone`.
    func findings(in report: String) -> [Finding] {
        let lines = report.split(separator: "\n")
        guard !lines.isEmpty else {
            return [
                Finding(
                    "sound-program", "the program screenrelay-sound is of another version, and reports nothing",
                    todo: "install or build all programs again")
            ]
        }
        return lines.compactMap { line in
            if line == "lacks sink" {
                return Finding(
                    "sound-sink", "--sound: PulseAudio has no sink, and so nothing that programs could play on",
                    todo: "connect or enable one, or make one: pactl load-module module-null-sink")
            }
            if line == "lacks microphone" {
                return Finding(
                    "sound-microphone", "--sound: PulseAudio has no microphone",
                    todo: "connect or enable one, or share only the desktop's sound")
            }
            guard let mark = line.firstRange(of: "other microphone ") else { return nil }
            return Finding(
                "sound-microphone", "--sound: PulseAudio's default source is not a microphone",
                todo: "choose one, for example with 'pactl set-default-source \(line[mark.upperBound...])'")
        }
    }
}
