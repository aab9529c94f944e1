import CXCB
import Glibc
import MediaTypes

/// Queries the pointer at times that the server keeps: it is asked to wait (SYNC extension, Await) before it answers
/// QueryPointer.
///
/// A look therefore wakes the capture once, without a timer and a round trip, which would wake it twice more. The
/// requests need a connection of their own, because anything else requested on it has to wait as well.
final class ServerTimedPointerQueries {
    let connection: X11Connection
    /// Whether the server still owes answers.
    var isUnderway: Bool { !asked.isEmpty }
    private let serverTime: xcb_sync_counter_t
    // The requests, in the order in which they are answered.
    private var asked: [xcb_query_pointer_cookie_t] = []
    private var batch = ServerTimedPointerQueries.batches.lowerBound

    /// The interval between two looks.
    static let period = Interval.milliseconds(33)
    /// How many looks are requested at once: the lower bound at first, and more each time, up to the upper bound, while
    /// the motion goes on. One system call covers them all, and the server isn't woken for each. Once the pointer
    /// rests, those left are wasted.
    private static let batches = 2...8

    /// Opens another connection to `display`; returns nil if the server has no clock to wait for.
    init?(display: String) throws(X11CaptureError) {
        connection = try X11Connection(display: display)
        let handle = connection.handle
        // If descriptors are scarce, the connection to the host needs the next one more.
        let spare = fcntl(connection.fileDescriptor, F_DUPFD_CLOEXEC, 0)
        if spare < 0 { return nil }
        close(spare)
        guard connection.firstEvent(of: shim_xcb_sync_id()) != nil else { return nil }
        // The server accepts no other request of the extension before this one.
        let version = xcb_sync_initialize(handle, 3, 0)
        free(try connection.reply(to: "SyncInitialize") { xcb_sync_initialize_reply(handle, version, &$0) })
        let cookie = xcb_sync_list_system_counters(handle)
        let list = try connection.reply(to: "SyncListSystemCounters") {
            xcb_sync_list_system_counters_reply(handle, cookie, &$0)
        }
        defer { free(list) }
        var found: xcb_sync_counter_t?
        var counters = xcb_sync_list_system_counters_counters_iterator(list)
        while counters.rem > 0, let counter = counters.data {
            // The name follows 14 bytes of numbers (SYNC, SYSTEMCOUNTER). xcb_sync_systemcounter_name points two bytes
            // too far.
            let name = UnsafeRawBufferPointer(
                start: UnsafeRawPointer(counter) + 14, count: Int(counter.pointee.name_len))
            if name.elementsEqual("SERVERTIME".utf8) { found = counter.pointee.counter }
            xcb_sync_systemcounter_next(&counters)
        }
        guard let found else { return nil }
        serverTime = found
    }

    /// Requests the pointer's position, in the coordinates of `window`, after each of the next periods.
    func sendRequestsAhead(_ window: xcb_window_t) {
        // The time is in milliseconds from the moment when the server processes the request. The threshold is never
        // reached, so no event is sent.
        var condition = xcb_sync_waitcondition_t(
            trigger: xcb_sync_trigger_t(
                counter: serverTime, wait_type: XCB_SYNC_VALUETYPE_RELATIVE.rawValue,
                wait_value: xcb_sync_int64_t(hi: 0, lo: UInt32(clamping: Self.period.milliseconds)),
                test_type: XCB_SYNC_TESTTYPE_POSITIVE_COMPARISON.rawValue),
            event_threshold: xcb_sync_int64_t(hi: .max, lo: .max))
        for _ in 0..<batch {
            xcb_sync_await(connection.handle, 1, &condition)
            asked.append(xcb_query_pointer(connection.handle, window))
        }
        batch = min(batch * 2, Self.batches.upperBound)
        xcb_flush(connection.handle)
    }

    /// Requests the pointer's position now, at the end of its motion, without waiting for the answer.
    func sendRequest(_ window: xcb_window_t) {
        batch = Self.batches.lowerBound
        asked.append(xcb_query_pointer(connection.handle, window))
        xcb_flush(connection.handle)
    }

    /// Passes events to `take` and answers to `answer`; an answer is nil if the window has just been closed.
    ///
    /// If the descriptor isn't readable, passing false for `isReadable` saves a system call.
    func read(
        isReadable: Bool, take: (UnsafePointer<xcb_generic_event_t>) -> Void,
        answer: (UnsafePointer<xcb_query_pointer_reply_t>?) -> Void
    ) throws(X11CaptureError) {
        var event = isReadable ? xcb_poll_for_event(connection.handle) : xcb_poll_for_queued_event(connection.handle)
        while let next = event {
            take(next)
            free(next)
            event = xcb_poll_for_queued_event(connection.handle)
        }
        try connection.check()
        while let cookie = asked.first {
            var reply: UnsafeMutableRawPointer?
            var error: UnsafeMutablePointer<xcb_generic_error_t>?
            if xcb_poll_for_reply(connection.handle, cookie.sequence, &reply, &error) == 0 { return }
            defer {
                free(reply)
                free(error)
            }
            asked.removeFirst()
            answer(reply.map { UnsafePointer($0.assumingMemoryBound(to: xcb_query_pointer_reply_t.self)) })
        }
    }
}
