import CommandLine
import MediaTypes
import X11Capture

/// The output of `--list`: what can be shared, and the option for each.
enum Listing {
    /// Prints the list, or one line that says why there is none. If no display is named, only the displays are listed.
    static func show(display: String?) -> ExitCode {
        let others = ScreenCapture.displays()
        do throws(X11CaptureError) {
            let text = text(try ScreenCapture.listing(display: display), others: others)
            return StandardStreams.answer(text, program: CaptureCommand.program)
        } catch .noDisplayNamed where !others.isEmpty {
            var displays = TextTable()
            for other in others { displays.add(["--display \(other)"]) }
            return StandardStreams.answer(
                "Displays:\n\(displays.text)Monitors and windows:\n  name a display to list what it has\n",
                program: CaptureCommand.program)
        } catch {
            StandardStreams.printError(
                "--display \(display ?? "(from DISPLAY)"): \(error)", program: CaptureCommand.program)
            return ExitCode(error.kind)
        }
    }

    private static func text(_ listing: DisplayListing, others: [String]) -> String {
        var displays = TextTable()
        displays.add(["--display \(listing.display)", "\(listing.screen)", "depth \(listing.depth)"])
        for other in others where other != listing.display { displays.add(["--display \(other)"]) }

        var monitors = TextTable()
        for monitor in listing.monitors {
            monitors.add([
                "--monitor \(quoted(monitor.name))", geometry(monitor.area), monitor.isPrimary ? "primary" : "",
            ])
        }
        if monitors.isEmpty { monitors.add(["none"]) }

        var windows = TextTable()
        for window in listing.windows {
            windows.add([
                "--window 0x\(String(window.identifier, radix: 16))", geometry(window.area),
                window.isViewable ? "" : "hidden", window.className, window.title,
            ])
        }
        if windows.isEmpty { windows.add(["none"]) }
        return "Displays:\n\(displays.text)Monitors:\n\(monitors.text)Windows (and for --hide):\n\(windows.text)"
    }

    /// `1280x720+0+40`, as for --region. A window may lie beyond the left or upper edge.
    private static func geometry(_ area: PixelRectangle) -> String {
        func offset(_ value: Int) -> String { value < 0 ? "\(value)" : "+\(value)" }
        return "\(area.width)x\(area.height)\(offset(area.x))\(offset(area.y))"
    }

    /// The name as a shell word.
    private static func quoted(_ name: String) -> String {
        let isPlain = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.:".contains($0)) }
        return isPlain && !name.isEmpty ? name : shellQuoted(name)
    }
}
