import CommandLine
import DesktopIntegration
import Glibc
import MediaTypes
import ScreenRelayKit
import Signalling
import Threading

/// `--notify` and `--pause-key KEY`, and the icon in the tray, which needs no option.
struct DesktopOption {
    static let options = [
        Option(
            long: "notify",
            help: "show a notification on this desktop when a viewer joins, at most one in 5 seconds"),
        Option(
            long: "pause-key", value: .required("KEY"),
            help:
                "a key that pauses and resumes whatever window has the focus, for example Ctrl+Alt+P or Pause; a "
                + "Wayland desktop asks you whether it may have that key",
            alsoSoughtAs: ["hotkey", "shortcut"]),
    ].under(.desktop)

    private(set) var settings = DesktopSigns.Settings()

    /// Reads the options. The key is on the display or the desktop that is captured.
    init(_ options: ParsedOptions, _ capture: CaptureOptions) throws(UsageError) {
        settings.notifies = options.has("notify")
        settings.pauseKey = try options.value("pause-key", as: .keyChord)
        settings.keyPlace = capture.system == .wayland ? .portal : .display(capture.display)
    }

    /// Starts to show on this desktop that the screen is shared. For the thread that waits in `end`.
    func signs(
        of host: ScreenRelayHost, _ end: EndSignals, _ news: DesktopNews, _ log: EventLog
    ) -> DesktopSigns {
        DesktopSigns(
            settings, news: news, facts: { SharingFacts(of: host) },
            actions: DesktopSigns.Actions(
                togglePause: { host.togglePause() }, stop: { end.end(with: ExitCode.success.rawValue) }),
            log: log, environment: { name in getenv(name).map { String(cString: $0) } })
    }
}

extension SharingFacts {
    /// The state of the first track of `host`.
    fileprivate init(of host: ScreenRelayHost) {
        let state = host.firstTrack.sourceState
        let (isPaused, hasSource) =
            switch state {
            case .live: (false, true)
            case .paused: (true, true)
            case .waiting, .gone: (false, false)
            }
        self.init(
            room: host.room, text: state.text(for: "capture"), isPaused: isPaused,
            isPausedBySharer: host.isPausedBySharer, hasSource: hasSource)
    }
}

extension DesktopNews {
    /// Takes an event of the rooms. Publishers aren't viewers, and those who wait haven't joined. Any thread; doesn't
    /// block.
    func tell(_ news: RoomNews) {
        switch news.change {
        case .came: if news.who.kind != .publisher { joined(news.who.id, name: news.who.name) }
        case .left: left(news.who.id)
        case .knocked: break
        }
    }
}

extension ValueFormat where Value == KeyChord {
    /// A key that other programs don't need for typing.
    fileprivate static var keyChord: ValueFormat<KeyChord> {
        ValueFormat(
            orProblem: "not a key that can pause; write it like Ctrl+Alt+P, Super+F9 or Pause, with Ctrl, Alt or Super "
                + "before a letter or a digit"
        ) { KeyChord($0) }
    }
}
