import AudioCapture
import CommandLine

/// The output of `--check`: lines for `screenrelay doctor` about the default devices.
///
///     has sink|microphone        there is one
///     lacks sink|microphone      there is none
///     other microphone NAME      there is this one, but the default source is what a sink plays
enum SoundReport {
    /// Prints the report, or one line that says why there is none.
    static func show(_ source: SoundSourceChoice, program: String) -> ExitCode {
        do throws(AudioError) {
            let devices = try AudioDevices.ofServer()
            var lines: [String] = []
            // PulseAudio always has a default among its sinks. Its default source may be a monitor.
            if source != .microphone { lines.append(devices.sinks.isEmpty ? "lacks sink" : "has sink") }
            if source != .desktop { lines.append(microphone(devices.microphones)) }
            return StandardStreams.answer(lines.joined(separator: "\n") + "\n", program: program)
        } catch {
            StandardStreams.printError("\(error)", program: program)
            return ExitCode(error.kind)
        }
    }

    private static func microphone(_ all: [AudioDevices.Device]) -> String {
        if all.contains(where: \.isDefault) { return "has microphone" }
        return all.first.map { "other microphone \($0.name)" } ?? "lacks microphone"
    }
}
