import Clocks
import Glibc
import MediaTypes
import Threading

/// The monitor that a screen cast shows, as the compositor itself describes it (wl_output of the Wayland protocol).
///
/// A compositor may end the screen cast of a monitor that is unplugged, rotated, or given another resolution: mutter
/// does. Portals report that and a user who stops sharing in the same way, so only the compositor can tell which of the
/// two it was. Nothing here waits except `init` and ``hasJustChanged()``: the caller polls ``descriptor``, and calls
/// ``process()`` when it is readable. Not thread-safe.
public final class SharedMonitor {
    /// The connection to the compositor; -1 once that has ended it.
    private(set) var descriptor: Int32
    /// Whether the compositor has removed the monitor.
    private(set) var isGone = false
    /// Whether the compositor has added a monitor since: the same one, or another that the user may want to share.
    private(set) var hasSuccessor = false

    /// What the compositor has said of its monitors, by the objects of this client that stand for them.
    private var monitors: [UInt32: Monitor] = [:]
    /// The object that stands for the shared one; 0 until it is found.
    private var shared: UInt32 = 0
    /// When the shared one last changed, or was removed; nil if neither has happened.
    private var changedAt: MonotonicTime?
    private var messages = CompositorMessages()
    // Kept so that a look needs no allocation.
    private var chunk = [UInt8](repeating: 0, count: SharedMonitor.chunkBytes)
    /// The names of monitors that no object stands for yet, with the version of each.
    private var announced: [(name: UInt32, version: UInt32)] = []
    /// The newest object. The protocol allows no gap between their numbers.
    private var lastObject = SharedMonitor.registry
    /// The last answer to a request for one.
    private var answered: UInt32 = 0

    private struct Monitor {
        /// What names it in the compositor's registry.
        var name: UInt32
        var position: PortalStream.Position?
    }

    private static let (display, registry): (UInt32, UInt32) = (1, 2)
    /// The version of wl_output that reports the scale.
    private static let version: UInt32 = 2
    private static let interface = CompositorMessages.string("wl_output")
    /// How long to wait for the compositor.
    private static let timeout = Interval.seconds(1)
    /// How long before its end a change may be the reason why a screen cast has ended.
    private static let longestReaction = Interval.seconds(2)
    private static let chunkBytes = 4096

    /// Finds the monitor of `stream`, by its place. Waits at most 2 s for the compositor.
    ///
    /// - Parameter environment: returns the value of a variable.
    /// - Returns: nil if the stream shows no monitor, if no compositor answers, or if several monitors are at that
    ///   place because one mirrors the other.
    public init?(of stream: PortalStream, environment: (String) -> String?) {
        guard stream.sourceType == .monitor, let position = stream.position,
            let path = Compositor.path(environment: environment), let socket = connectedSocket(to: path)
        else { return nil }
        descriptor = socket
        // wl_display.get_registry
        send(Self.display, 1, [Self.registry])
        settle()
        for global in announced {
            let object = newObject()
            monitors[object] = Monitor(name: global.name)
            // wl_registry.bind
            send(Self.registry, 0, [global.name] + Self.interface + [min(global.version, Self.version), object])
        }
        announced = []
        settle()
        let there = monitors.filter { $0.value.position == position }
        guard descriptor >= 0, there.count == 1, let found = there.first else { return nil }
        shared = found.key
    }

    deinit { close() }

    /// Reads what the compositor has sent. Never waits.
    func process() {
        while descriptor >= 0 {
            let count = recv(descriptor, &chunk, Self.chunkBytes, 0)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return }
            guard count > 0 else { return close() }
            messages.append(chunk.prefix(count))
            while let event = messages.next() { handle(event) }
            if messages.isBroken { close() }
        }
    }

    /// Whether the monitor was removed or has changed so shortly before that this is why its screen cast has ended.
    /// Waits at most 1 s for all that the compositor has to say.
    func hasJustChanged() -> Bool {
        settle()
        guard let changedAt else { return false }
        return MonotonicTime.now() - changedAt < Self.longestReaction
    }

    /// Waits until the compositor has handled all requests, and reads what it has sent before.
    private func settle() {
        let callback = newObject()
        // wl_display.sync
        send(Self.display, 0, [callback])
        let end = MonotonicTime.now() + Self.timeout
        while descriptor >= 0, answered != callback, MonotonicTime.now() < end {
            waitForEvents(on: descriptor, until: end)
            process()
        }
    }

    private func newObject() -> UInt32 {
        lastObject += 1
        return lastObject
    }

    private func send(_ object: UInt32, _ number: UInt32, _ arguments: [UInt32]) {
        let request = CompositorMessages.request(object, number, arguments)
        guard descriptor >= 0 else { return }
        let sent = Glibc.send(descriptor, request, request.count, Int32(MSG_NOSIGNAL))
        if sent != request.count { close() }
    }

    private func close() {
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        descriptor = -1
    }

    // MARK: - Events

    private func handle(_ event: CompositorMessages.Event) {
        let arguments = event.arguments
        switch event.object {
        case Self.display:
            // An error; the other event only says that a number is free again.
            if event.number == 0 { close() }
        case Self.registry where event.number == 0: added(arguments)
        case Self.registry: if let name = arguments.first { removed(name) }
        case let object where monitors[object] != nil: changed(object, event.number, arguments)
        default: answered = event.object
        }
    }

    /// Of wl_registry.global: a name, an interface, and its version.
    private func added(_ arguments: [UInt32]) {
        guard arguments.dropFirst().dropLast().elementsEqual(Self.interface), let name = arguments.first,
            let version = arguments.last
        else { return }
        if isGone { hasSuccessor = true }
        if shared == 0 { announced.append((name, version)) }
    }

    private func removed(_ name: UInt32) {
        announced.removeAll { $0.name == name }
        guard monitors[shared]?.name == name else { return }
        isGone = true
        changedAt = .now()
    }

    /// Of wl_output: 0 is its place, with much else; 1 its mode, 2 the end of several changes, and 3 its scale.
    private func changed(_ object: UInt32, _ number: UInt32, _ arguments: [UInt32]) {
        if number == 0, arguments.count >= 2 {
            monitors[object]?.position = PortalStream.Position(
                x: Int(Int32(bitPattern: arguments[0])), y: Int(Int32(bitPattern: arguments[1])))
        }
        if object == shared { changedAt = .now() }
    }
}
