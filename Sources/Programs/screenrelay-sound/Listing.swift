import AudioCapture
import CommandLine

/// The output of `--list`: what can be shared, and the option for each.
enum Listing {
    /// Prints the list, or one line that says why there is none.
    static func show(program: String) -> ExitCode {
        do throws(AudioError) {
            let devices = try AudioDevices.ofServer()
            let sinks = text(devices.sinks, option: "--desktop-device")
            let microphones = text(devices.microphones, option: "--microphone-device")
            return StandardStreams.answer(
                "What programs play on (sinks):\n\(sinks)Microphones:\n\(microphones)", program: program)
        } catch {
            StandardStreams.printError("\(error)", program: program)
            return ExitCode(error.kind)
        }
    }

    private static func text(_ devices: [AudioDevices.Device], option: String) -> String {
        var table = TextTable()
        for device in devices {
            table.add(
                [
                    "\(option) \(device.name)", device.isDefault ? "default" : "",
                    device.state + (device.isMuted ? ", muted" : ""), device.description,
                ], limit: 100)
        }
        if devices.isEmpty { table.add(["none"]) }
        return table.text
    }
}
