public import MediaTypes

/// The options of a capture. `screenrelay-capture` accepts them, and `screenrelay share` passes them on to the capture
/// that it starts.
public struct CaptureOptions: Sendable, Equatable {
    /// The display system that is captured.
    public var system: DisplaySystem
    /// Whether a Wayland desktop asks the user even if the user has chosen before.
    public var asks: Bool
    /// The name under which the user's choice in a Wayland desktop's dialog is kept; nil for the address of the link.
    public var choice: String?
    /// The X display, or nil for the display that the variable DISPLAY names.
    public var display: String?
    /// The part of the display that is captured. A Wayland desktop has the user choose a part of this kind.
    public var target: CaptureTarget
    /// Whether the user chooses the part on the screen; `target` is then of no meaning.
    public var picks: Bool
    /// The windows that viewers must not see.
    public var hidden: [WindowSelector]
    /// The size of pictures, or nil for the size of the captured part.
    public var scale: PictureScale?
    /// How often a key frame is sent without a request, or nil for never.
    public var keyFrames: KeyFrameInterval?
    /// Which chroma formats may be sent.
    public var chroma: ChromaPreference
    /// Whether sharing pauses while the screen is locked.
    public var pausesWhenLocked: Bool
    /// The most pictures a second.
    public var framesPerSecond: Int
    /// The minimum frame rate in motion, in frames per second, if the coarsest QP allows it; nil for none.
    public var lowestFramesPerSecond: Int?
    /// The highest bit rate, or nil if it depends on the viewers' paths.
    public var bitRate: BitRate?
    /// The bit rate at the beginning, if it isn't the highest one.
    public var firstBitRate: BitRate?
    /// The quantizer of all pictures, 0...51, or nil if the rate control chooses it.
    public var qp: Int?
    /// Whether parts that were sent in low quality are sent again in better quality once the screen is static.
    public var refines: Bool

    /// Reads the options that the user wrote.
    ///
    /// - Throws: ``UsageError`` that names the option whose value is invalid.
    public init(_ parsed: ParsedOptions) throws(UsageError) {
        let named: DisplaySystem? = try parsed.value("source", as: .choice)
        system = named ?? (parsed.has("display") ? .x11 : .ofSession)
        switch system {
        case .x11: try Self.checkDisplay(parsed)
        case .wayland: try Self.checkDesktop(parsed)
        }
        asks = parsed.has("ask")
        choice = try parsed.value("choice", as: .text)
        display = try parsed.value("display", as: .text)
        target = try parsed.captureTarget()
        picks = parsed.has("pick")
        hidden = try parsed.values("hide", as: .window)
        scale = try parsed.pictureScale()
        keyFrames = try parsed.value("key-frames", as: .keyFrames)
        chroma = try parsed.required("chroma", as: .chroma)
        pausesWhenLocked = parsed.has("pause-when-locked")
        let frameRates = try parsed.required("fps", as: .span(of: .frameRate))
        lowestFramesPerSecond = frameRates.least
        framesPerSecond = frameRates.most
        let bitRates = try parsed.value("bitrate", as: .span(of: .bitRate))
        firstBitRate = bitRates?.least
        bitRate = bitRates?.most
        qp = try parsed.value("constant-qp", as: .integer(0...51, what: "quantizer"))
        refines = !parsed.has("no-refinement")
    }

    /// The options as the words of a command line.
    public var arguments: [String] {
        var words = ["--fps", (lowestFramesPerSecond.map { "\($0)-" } ?? "") + "\(framesPerSecond)"]
        if let bitRate {
            words += ["--bitrate", (firstBitRate.map { "\($0.bitsPerSecond)-" } ?? "") + "\(bitRate.bitsPerSecond)"]
        }
        words += ["--source", system.rawValue]
        if asks { words.append("--ask") }
        if let choice { words += ["--choice", choice] }
        if let display { words += ["--display", display] }
        if picks { words.append("--pick") }
        switch target {
        case .screen: break
        case .monitor(let name): words += ["--monitor", name]
        case .window(let window): words += ["--window", "\(window)"]
        case .region(let area): words += ["--region", "\(area.width)x\(area.height)+\(area.x)+\(area.y)"]
        }
        for window in hidden { words += ["--hide", "\(window)"] }
        switch scale {
        case .percent(let percent): words += ["--scale", "\(percent)%"]
        case .within(let size): words += ["--scale", "\(size.width)x\(size.height)"]
        case .exactly(let size): words += ["--size", "\(size.width)x\(size.height)"]
        case nil: break
        }
        switch keyFrames {
        case .time(let time): words += ["--key-frames", "\(time.nanoseconds / 1_000_000)ms"]
        case .frames(let count): words += ["--key-frames", "\(count)"]
        case nil: break
        }
        words += ["--chroma", chroma.rawValue]
        if pausesWhenLocked { words.append("--pause-when-locked") }
        if let qp { words += ["--constant-qp", "\(qp)"] }
        if !refines { words.append("--no-refinement") }
        return words
    }
}

extension CaptureOptions {
    /// Groups of options of which only one may be given, for a command's table.
    public static let alternatives = [["monitor", "window", "region", "pick"], ["scale", "size"]]

    /// The options for a command's table.
    public static let options = source.under(.source) + quality.under(.quality)

    private static let source = [
        Option(
            long: "display", short: "d", value: .required("DISPLAY"),
            help: "the X display, for example :0 (default: the variable DISPLAY)"),
        Option(
            long: "source", value: .required("SYSTEM"),
            help:
                "share an X display (x11), or the desktop of a Wayland session (wayland), which asks you what to share "
                + "(default: wayland in a Wayland session with a user bus if --display isn't given, otherwise x11)",
            choices: DisplaySystem.allCases.map(\.rawValue)),
        Option(
            long: "ask",
            help: "have a Wayland desktop ask again what to share; without it, your last choice is used"),
        Option(
            long: "monitor", value: .required("NAME"),
            help:
                "share only this monitor, for example DP-1; --list names them; on a Wayland desktop 'any', to choose "
                + "one in its dialog, or 'new', for a monitor that exists only while it is shared"),
        Option(
            long: "window", value: .required("WINDOW"),
            help:
                "share only this window, without its menus and dialogs, even while others cover it: an identifier such "
                + "as 0x1c00003, or part of its title or class (in any case; an exact title "
                + "wins, otherwise several matches are an error); --list names them; on a Wayland desktop 'any', to "
                + "choose one in its dialog"),
        Option(
            long: "region", value: .required("WxH+X+Y"),
            help:
                "share only this part of the screen, for example 1280x720+0+40 (width, height, left, top, in pixels)"),
        Option(
            long: "pick",
            help:
                "choose on the screen: click a window, or drag a region; Escape or the right button cancels"),
        Option(
            long: "hide", value: .required("WINDOW"),
            help:
                "hide this window and all others of its program, such as menus and dialogs, and their previews, which "
                + "appear black; not needed with --window; named as for --window, may be repeated",
            repeats: true),
        Option(long: "list", help: "list the displays, monitors and windows that can be shared, and exit"),
        Option(
            long: "pause-when-locked",
            help: "pause picture and sound while the screen is locked or blanked; both continue once it is unlocked"),
    ]

    private static let quality = [
        Option(
            long: "fps", short: "f", value: .required("NUMBER"),
            help:
                "maximum frame rate, 1 to 120 fps; with 15-30, at least 15 fps in motion, unless even the coarsest "
                + "frames take longer",
            default: "30"),
        Option(
            long: "bitrate", short: "b", value: .required("RATE"),
            help:
                "maximum bit rate, 10k to 1G bits per second, for example 4M, 600k or 2500000; with 1M-8M, start at "
                + "1M, and up to 8M if half of the viewers' connections carry it; without it, 4M, and more if half of "
                + "them carry it: up to 12M for 1920x1080 at 30 fps"),
        Option(
            long: "scale", value: .required("WxH|N%"),
            help:
                "scale frames down, with the same aspect ratio: to fit a size, for example 1920x1080, or to a share "
                + "such as 50%"),
        Option(
            long: "size", value: .required("WxH"),
            help:
                "send frames of exactly this size, for example 1280x720: the source is scaled up or down, with black "
                + "bars if its aspect ratio differs; with --monitor new, the monitor has this size (otherwise "
                + "1920x1080)"),
        Option(
            long: "chroma", value: .required("FORMAT"),
            help:
                "the colour resolution: 420; or 444, which keeps small coloured text readable, but not every browser "
                + "can decode it; or 444,420, which uses 444 while every viewer's browser can decode it, else 420",
            default: ChromaPreference.yuv420.rawValue, choices: ["420", "444", "444,420"]),
        Option(
            long: "key-frames", value: .required("TIME|N"),
            help:
                "send a key frame at least once in this time, 500ms to 1h, for example 10s, even if nothing changes, "
                + "or every N frames, 2 to 100000, for example 300; for receivers that can't request one: the original "
                + "ReplayKit receiver, recorders (default: only on request)"),
        Option(
            long: "constant-qp", value: .required("N"),
            help: "for measurements: encode every frame with this quantizer, 0 to 51, whatever the bit rate",
            isHidden: true),
        Option(
            long: "no-refinement",
            help: "for measurements: don't re-send static content at higher quality",
            isHidden: true),
    ]
}

extension ParsedOptions {
    /// Whether `--list` was given. The program then lists the displays, windows or sound devices that can be shared,
    /// and exits.
    public var wantsList: Bool { has("list") }

    /// The size of pictures that `--scale` or `--size` gives. At most one of them may be given.
    fileprivate func pictureScale() throws(UsageError) -> PictureScale? {
        guard has("size") else { return try value("scale", as: .scale) }
        if has("scale") { throw UsageError("--scale and --size can't go together; give one of them") }
        return try value("size", as: .exactSize)
    }

    /// The target that `--monitor`, `--window` or `--region` names. At most one of them and `--pick` may be given.
    fileprivate func captureTarget() throws(UsageError) -> CaptureTarget {
        let given = ["monitor", "window", "region", "pick"].filter { has($0) }
        if given.count > 1 {
            let names = given.map { "--\($0)" }.joined(separator: " and ")
            throw UsageError("\(names) can't go together; give one of --monitor, --window, --region and --pick")
        }
        if let name = try value("monitor", as: .text) { return .monitor(name) }
        if let window = try value("window", as: .window) { return .window(window) }
        if let area = try value("region", as: .region) { return .region(area) }
        return .screen
    }
}
