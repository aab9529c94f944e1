import CXCB
import MediaTypes

/// The part of the screen that one monitor shows, wherever that part moves.
final class TrackedMonitor: TrackedTarget {
    private(set) var place: CapturePlace?
    private(set) var size: PictureSize
    private(set) var nextCheck = MonotonicTime.zero
    let layout: PixelLayout
    let window: xcb_window_t
    private let connection: X11Connection
    private let name: String
    private var isOutdated = false
    private var goneSince: MonotonicTime?

    /// How long a monitor may be missing: somebody may unplug a cable and plug it in again, or the driver may turn all
    /// monitors off before it arranges them anew.
    private static let patience = Interval.seconds(5)
    private static let waitingPeriod = Interval.milliseconds(500)
    /// A virtual monitor (RRSetMonitor) is moved and deleted without an event, so it has to be polled.
    private static let checkPeriod = Interval.seconds(1)

    /// Throws if no monitor has this name, or if it is off.
    init(_ connection: X11Connection, name: String) throws(X11CaptureError) {
        let search = MonitorSearch(connection)
        let monitors = try search.monitors()
        guard let monitor = monitors.first(where: { $0.name == name }), !monitor.area.isEmpty else {
            if try search.hasOutput(name) { throw .monitorGone(name) }
            throw .noSuchMonitor(name, known: monitors.map(\.name))
        }
        self.connection = connection
        self.name = name
        layout = connection.pixels
        window = connection.root
        size = monitor.area.size
        place = .screen(connection.root, area: monitor.area, screen: try connection.rootSize())
    }

    func outdate() { isOutdated = true }

    func update(_ now: MonotonicTime) throws(X11CaptureError) -> Bool {
        if !isOutdated, now < nextCheck { return false }
        isOutdated = false
        let monitor = try MonitorSearch(connection).monitors().first { $0.name == name && !$0.area.isEmpty }
        guard let monitor else {
            let since = goneSince ?? now
            if now - since >= Self.patience { throw .monitorGone(name) }
            goneSince = since
            nextCheck = min(now + Self.waitingPeriod, since + Self.patience)
            place = nil
            return false
        }
        goneSince = nil
        nextCheck = now + Self.checkPeriod
        size = monitor.area.size
        place = .screen(connection.root, area: monitor.area, screen: try connection.rootSize())
        return true
    }
}
