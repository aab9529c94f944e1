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
    private var isStale = false

    /// How often to look while the monitor is off or gone. This may last: a cable may be unplugged for a night.
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

    func invalidate() { isStale = true }

    func update(_ now: MonotonicTime) throws(X11CaptureError) {
        if !isStale, now < nextCheck { return }
        isStale = false
        let monitor = try MonitorSearch(connection).monitors().first { $0.name == name && !$0.area.isEmpty }
        guard let monitor else {
            nextCheck = now + Self.waitingPeriod
            place = nil
            return
        }
        nextCheck = now + Self.checkPeriod
        size = monitor.area.size
        place = .screen(connection.root, area: monitor.area, screen: try connection.rootSize())
    }
}
