import ByteCoding
import CLinux
import Clocks
import Glibc
import MediaTypes
import Synchronization
import Threading

/// How this machine's way to other networks has changed: the default route of its main table, for IPv4 or IPv6.
public enum NetworkChange: Hashable, Sendable {
    /// There is no default route any more, or its link is down.
    case lost
    /// There is a default route again.
    case found
    /// The default route leads to another gateway, or out of another interface.
    case moved
}

/// Reports changes of this machine's way to other networks, about a second after they began, since they arrive in
/// bursts.
///
/// A thread sleeps until the kernel reports a link or a default route. It runs as long as this object is retained.
final class NetworkChanges: Sendable {
    private struct Weak: Sendable {
        weak var changes: NetworkChanges?
    }

    private static let running = Mutex<Weak>(Weak())

    /// Returns the process's instance: the running one, or a new one. Nil if the process has no thread or descriptor
    /// left.
    static func shared() -> NetworkChanges? {
        running.withLock { running in
            if let one = running.changes { return one }
            guard let new = NetworkChanges() else { return nil }
            running.changes = new
            return new
        }
    }

    private let watch: NetworkWatch

    /// Watches the network that the calling thread is in. Nil if the process has no thread or descriptor left.
    init?() {
        guard let watch = NetworkWatch() else { return nil }
        guard NamedThread("network", blocksSignals: true, body: { watch.run() }) != nil else { return nil }
        self.watch = watch
    }

    deinit {
        watch.end()
    }

    /// Gives all changes from now on to `take`, on a thread of its own. Returns a closure that ends this, and that
    /// retains this object until then.
    func subscribe(_ take: @escaping @Sendable (NetworkChange) -> Void) -> @Sendable () -> Void {
        let key = watch.add(take)
        return { [self] in watch.remove(key) }
    }
}

/// The work of the thread of ``NetworkChanges``.
private final class NetworkWatch: Sendable {
    private struct Takers: Sendable {
        var next = 0
        var all: [Int: @Sendable (NetworkChange) -> Void] = [:]
    }

    /// Messages within this time after a first one count as one change.
    private static let burst = Interval.seconds(1)
    /// When the routes are read again if that has failed.
    private static let repetition = Interval.seconds(5)
    /// The kernel answers at once.
    private static let timeout = Interval.seconds(2)

    private let news: Int32
    private let wake: EventFD
    private let isOver = Flag()
    private let takers = Mutex<Takers>(Takers())
    private let first: DefaultRoutes

    /// Nil if the process has no descriptor left.
    init?() {
        guard let wake = EventFD() else { return nil }
        let made = shim_route_socket(1)
        if made < 0 { return nil }
        // Read before the first subscription, so that no change after it is missed.
        guard let first = Self.routes() else {
            close(made)
            return nil
        }
        self.wake = wake
        news = made
        self.first = first
    }

    deinit {
        close(news)
    }

    func add(_ take: @escaping @Sendable (NetworkChange) -> Void) -> Int {
        takers.withLock { takers in
            takers.next += 1
            takers.all[takers.next] = take
            return takers.next
        }
    }

    func remove(_ key: Int) { takers.withLock { $0.all[key] = nil } }

    func end() {
        isOver.set()
        wake.signal()
    }

    func run() {
        var known = first
        var isMissed = false
        while !isOver.isSet {
            var entries = [pollfd(news), pollfd(wake.descriptor)]
            waitForEvents(&entries, until: isMissed ? .now() + Self.repetition : .distantFuture)
            let isNew = entries[0].isReady && hasNews()
            guard isNew || isMissed else { continue }
            let settled = MonotonicTime.now() + Self.burst
            while !isOver.isSet, MonotonicTime.now() < settled { wake.wait(until: settled) }
            // The routes that are read now include all changes so far.
            _ = hasNews()
            let read = Self.routes()
            isMissed = read == nil
            guard let new = read else { continue }
            let change = known.change(to: new)
            known = new
            guard let change, !isOver.isSet else { continue }
            for take in takers.withLock({ Array($0.all.values) }) { take(change) }
        }
    }

    /// Reads the kernel's messages; returns whether the routes may have changed.
    private func hasNews() -> Bool {
        var matters = false
        while true {
            let (bytes, error) = Self.receive(news)
            // Without room, the kernel has left something out.
            matters = matters || error == ENOBUFS || !RouteMessage.read(bytes).isEmpty
            guard error == 0 || error == EINTR || error == ENOBUFS else { return matters }
        }
    }

    /// Asks the kernel for the routes, since it doesn't report routes whose link goes down. Nil if it gives none.
    private static func routes() -> DefaultRoutes? {
        let descriptor = shim_route_socket(0)
        if descriptor < 0 { return nil }
        defer { close(descriptor) }
        var request = ByteWriter(capacity: 28)
        request.uint32LittleEndian(28)
        request.uint16LittleEndian(26)  // RTM_GETROUTE
        request.uint16LittleEndian(0x301)  // NLM_F_REQUEST, NLM_F_DUMP
        // The sequence number, the port, and an empty `struct rtmsg`, which asks for all families.
        request.append([UInt8](repeating: 0, count: 20))
        guard send(descriptor, request.bytes, request.count, 0) == request.count else { return nil }
        let deadline = MonotonicTime.now() + timeout
        var routes: [DefaultRoute] = []
        while MonotonicTime.now() < deadline {
            waitForEvents(on: descriptor, until: deadline)
            for message in RouteMessage.read(receive(descriptor).bytes) {
                switch message {
                case .route(let route): routes.append(route)
                case .end: return DefaultRoutes(routes)
                case .failed: return nil
                case .routeGone, .link: break
                }
            }
        }
        return nil
    }

    /// The bytes received at once, or nothing and an errno.
    private static func receive(_ descriptor: Int32) -> (bytes: ArraySlice<UInt8>, error: Int32) {
        // The kernel sends at most 32 KiB at once.
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count < 0 { return (bytes: [], error: errno) }
        return (bytes: buffer[..<count], error: count == 0 ? EAGAIN : 0)
    }
}

extension PushAddress {
    /// Whether it may be on another machine, so that a change of the network concerns it.
    var isRemote: Bool {
        guard !url.hasPrefix("file:") else { return false }
        return !Loopback.contains(authority: url.drop { $0 != "/" }.dropFirst(2).prefix { !"/?".contains($0) })
    }
}
