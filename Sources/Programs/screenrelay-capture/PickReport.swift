import CommandLine
import MediaTypes
import X11Capture

/// The user's choice on the screen, for `--pick`; and for `screenrelay share`, two lines of it:
///
///     window 0xIDENTIFIER, or region WxH+X+Y
///     the name of what was chosen
enum PickReport {
    /// Lets the user choose. If there is no choice, prints why, and returns the exit code.
    static func pick(_ options: CaptureOptions) -> Result<ScreenPicker.Choice, Ended> {
        do throws(X11CaptureError) {
            var picker = try ScreenPicker(display: options.display)
            if let choice = try picker.pick() { return .success(choice) }
            StandardStreams.printError("--pick: cancelled", program: CaptureCommand.program)
            return .failure(Ended(code: .cancelled))
        } catch {
            StandardStreams.printError("--pick: \(error)", program: CaptureCommand.program)
            return .failure(Ended(code: ExitCode(error.kind)))
        }
    }

    /// Why there is no choice.
    struct Ended: Error {
        let code: ExitCode
    }

    /// Lets the user choose, and prints the choice.
    static func show(_ options: CaptureOptions) -> ExitCode {
        switch pick(options) {
        case .failure(let ended): return ended.code
        case .success(let choice):
            var target = ""
            switch choice.target {
            case .window(let window): target = "window \(window)"
            case .region(let area): target = "region \(area.width)x\(area.height)+\(area.x)+\(area.y)"
            case .screen, .monitor: break
            }
            return StandardStreams.answer("\(target)\n\(choice.name)\n", program: CaptureCommand.program)
        }
    }
}
