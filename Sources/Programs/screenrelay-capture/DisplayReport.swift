import Clocks
import CommandLine
import LoginSession
import MediaTypes
import Threading
import X11Capture

/// The output of `--check`: lines for `screenrelay doctor`.
///
///     size WIDTH HEIGHT    of the pictures, in pixels, before they are scaled
///     remote               the X server is on another machine
///     lacks EXTENSION      what the server has not, or doesn't let us use
///     unnoticed LOCK       a kind of lock that --pause-when-locked, if given, doesn't notice here: 'session' (what
///     logind
///                          says of this login session) or 'saver' (the X server's screen saver)
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
            if options.pausesWhenLocked {
                if !isSessionKnown(options) { lines.append("unnoticed session") }
                if !screen.watchesSaver { lines.append("unnoticed saver") }
            }
            return StandardStreams.answer(lines.joined(separator: "\n") + "\n", program: CaptureCommand.program)
        } catch {
            StandardStreams.printError(
                "--display \(options.display ?? "(from DISPLAY)"): \(error)", program: CaptureCommand.program)
            return ExitCode(error.kind)
        }
    }

    /// Whether logind says in time whether the session is locked.
    private static func isSessionKnown(_ options: CaptureOptions) -> Bool {
        guard let session = CaptureProgram.session(options) else { return false }
        let end = MonotonicTime.now() + .seconds(2)
        while !session.isKnown, session.descriptor >= 0, MonotonicTime.now() < end {
            waitForEvents(on: session.descriptor, session.events, until: min(end, session.deadline))
            session.process()
        }
        return session.isKnown
    }
}
