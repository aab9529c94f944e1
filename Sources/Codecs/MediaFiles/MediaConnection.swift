import CLibAV
import Clocks
public import MediaTypes
import Synchronization

/// Bounds how long libavformat waits for another machine, and ends its waiting from any thread. Its owner keeps it for
/// as long as libavformat uses it.
public final class MediaConnection: Sendable {
    private let deadline = Atomic<Int64>(.max)
    private let isEnded = Atomic<Bool>(false)
    /// The number of the socket of a connection over SRT, or -1.
    private let socket = Atomic<Int32>(-1)

    private let clock: @Sendable () -> MonotonicTime

    /// A connection without a time limit.
    public init() { clock = { MonotonicTime.now() } }

    /// A connection with another clock than CLOCK_MONOTONIC, which a test sets.
    public init(clock: @escaping @Sendable () -> MonotonicTime) { self.clock = clock }

    /// The time on the connection's clock.
    var now: MonotonicTime { clock() }

    /// Sets the time by which the current operation must be over.
    public func allow(until time: MonotonicTime) {
        deadline.store(time.nanoseconds, ordering: .relaxed)
    }

    /// Ends the current operation, and all later ones, with an error.
    public func abandon() {
        isEnded.store(true, ordering: .relaxed)
    }

    /// Whether it was abandoned.
    public var isAbandoned: Bool { isEnded.load(ordering: .relaxed) }

    /// Whether the time is over.
    public var isLate: Bool { now.nanoseconds > deadline.load(ordering: .relaxed) }

    /// Keeps the socket of a connection over SRT; -1 for another protocol.
    func connected(bySRT socket: Int32) { self.socket.store(socket, ordering: .relaxed) }

    /// libsrt's counters, if the connection is over SRT. May be called on any thread.
    public var counters: SRTCounters? {
        let socket = socket.load(ordering: .relaxed)
        return socket < 0 ? nil : SRTCounters(of: socket)
    }

    /// The callback that libavformat calls while it waits, about ten times per second.
    var callback: AVIOInterruptCB {
        AVIOInterruptCB(
            callback: { connection in
                guard let connection else { return 0 }
                let this = Unmanaged<MediaConnection>.fromOpaque(connection).takeUnretainedValue()
                return this.isAbandoned || this.isLate ? 1 : 0
            }, opaque: Unmanaged.passUnretained(self).toOpaque())
    }
}
