import CPulse
import Clocks
import Glibc
import MediaTypes
import Threading

/// libpulse's main loop, which waits for the descriptors of its owner as well: the thread sleeps in one ppoll(2).
///
/// Not thread-safe. Outlives everything that was made with its `api`.
final class PulseLoop {
    private let loop: OpaquePointer
    /// The owner's descriptors during `wait`.
    private var own: [pollfd] = []
    private var deadline = MonotonicTime.distantFuture
    /// libpulse's descriptors and the owner's; kept for its memory.
    private var entries: [pollfd] = []
    /// So that a server that never ends doesn't keep us from the link.
    private static let maxTurns = 64

    init() throws(AudioError) {
        guard let loop = pa_mainloop_new() else { throw .library(call: "pa_mainloop_new") }
        self.loop = loop
        shim_pa_mainloop_set_poll(
            loop,
            { entries, count, timeout, context in
                guard let context else { return -1 }
                return Unmanaged<PulseLoop>.fromOpaque(context).takeUnretainedValue()
                    .poll(entries?.assumingMemoryBound(to: pollfd.self), Int(count), timeout)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        pa_mainloop_free(loop)
    }

    /// The API that contexts are made with.
    var api: UnsafeMutablePointer<pa_mainloop_api>? { pa_mainloop_get_api(loop) }

    /// Waits until something happens at libpulse's descriptors or at `watched`, or until `deadline`, and has libpulse
    /// handle its own events. Sets the `revents` of `watched`.
    ///
    /// - Parameter restEnd: Before this time, libpulse's descriptors cause no wake-up. Then all their events are
    ///   handled, and the wait ends even if there are none. Nil if they may cause a wake-up at any time.
    func wait(
        _ watched: inout [pollfd], until deadline: MonotonicTime, restingUntil restEnd: MonotonicTime? = nil
    ) throws(AudioError) {
        for index in watched.indices { watched[index].revents = 0 }
        if let restEnd, restEnd > .now() {
            if waitForEvents(&watched, until: min(deadline, restEnd)) == 0 { try handleAll() }
            return
        }
        own = watched
        self.deadline = deadline
        guard pa_mainloop_prepare(loop, -1) >= 0, pa_mainloop_poll(loop) >= 0, pa_mainloop_dispatch(loop) >= 0 else {
            throw .library(call: "pa_mainloop_poll")
        }
        watched = own
    }

    /// Has libpulse handle all pending events, without waiting. A block of samples may need several turns.
    private func handleAll() throws(AudioError) {
        own = []
        for _ in 0..<Self.maxTurns {
            let handled = pa_mainloop_iterate(loop, 0, nil)
            guard handled >= 0 else { throw .library(call: "pa_mainloop_iterate") }
            if handled == 0 { return }
        }
    }

    /// What libpulse calls instead of poll(2); `timeout` is in milliseconds, or negative. Not called while libpulse has
    /// something to do at once.
    private func poll(_ theirs: UnsafeMutablePointer<pollfd>?, _ count: Int, _ timeout: Int32) -> Int32 {
        entries.removeAll(keepingCapacity: true)
        entries.append(contentsOf: UnsafeBufferPointer(start: theirs, count: count))
        entries.append(contentsOf: own)
        var end = deadline
        if timeout >= 0 { end = min(end, .now() + .milliseconds(Int64(timeout))) }
        guard waitForEvents(&entries, until: end) >= 0 else { return errno == EINTR ? 0 : -1 }
        var ready: Int32 = 0
        for index in 0..<count {
            theirs?[index].revents = entries[index].revents
            if entries[index].isReady { ready += 1 }
        }
        for index in own.indices { own[index].revents = entries[count + index].revents }
        return ready
    }
}

/// Gives up an operation's handle; the operation goes on.
func finish(_ operation: OpaquePointer?) {
    if let operation { pa_operation_unref(operation) }
}
