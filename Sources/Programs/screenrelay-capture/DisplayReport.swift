import CommandLine
import MediaTypes
import X11Capture

/// The output of `--check`: lines for `screenrelay doctor`.
///
///     size WIDTH HEIGHT    of the pictures, in pixels, before they are scaled
///     remote               the X server is on another machine
///     lacks EXTENSION      what the server has not, or doesn't let us use
enum DisplayReport {
    /// Prints the report, or one line that says why nothing can be captured.
    static func show(_ options: CaptureOptions) -> ExitCode {
        do throws(X11CaptureError) {
            let screen = try ScreenCapture(
                display: options.display, target: options.target, hidden: options.hidden,
                watchesLock: options.pausesWhenLocked)
            var lines = ["size \(screen.size.width) \(screen.size.height)"]
            if screen.isRemote { lines.append("remote") }
            lines += screen.missingExtensions.map { "lacks \($0)" }
            return StandardStreams.answer(lines.joined(separator: "\n") + "\n", program: CaptureCommand.program)
        } catch {
            StandardStreams.printError(
                "--display \(options.display ?? "(from DISPLAY)"): \(error)", program: CaptureCommand.program)
            return ExitCode(error.kind)
        }
    }
}
