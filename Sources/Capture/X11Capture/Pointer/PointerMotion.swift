import CXCB
import Glibc
import MediaTypes

/// Decides when to query the pointer: after a raw motion event of XInput 2 or, if the server can't send those, at
/// regular intervals.
///
/// A mouse sends hundreds of events a second, so the events are switched off after the first one. From then on the
/// pointer is queried at most 40 times per second, until two queries in a row find that it hasn't moved.
final class PointerMotion {
    /// Whether the pointer moved, or may have, since it was last found at rest.
    private(set) var isMoving = false
    private let connection: X11Connection
    // The major opcode of XInput; nil if the server's version is older than 2.1.
    private let opcode: UInt8?
    private var isListening = false
    private var looksAtRest = 0
    private var lastLook: MonotonicTime?

    // With 30 fps, a shorter period would not look smoother.
    private static let movingPeriod = Interval.milliseconds(25)
    private static let pollingPeriod = Interval(nanoseconds: 33_333_333)
    /// XWarpPointer causes no raw event, so a look every second finds its effect.
    private static let restPeriod = Interval.seconds(1)
    private static let restPollingPeriod = Interval.milliseconds(500)

    init(_ connection: X11Connection) throws(X11CaptureError) {
        self.connection = connection
        var opcode: UInt8?
        if let data = xcb_get_extension_data(connection.handle, shim_xcb_input_id()), data.pointee.present != 0 {
            let cookie = xcb_input_xi_query_version(connection.handle, 2, 2)
            if let version = xcb_input_xi_query_version_reply(connection.handle, cookie, nil) {
                // Before 2.1, raw events stop while a program grabs the pointer.
                if (version.pointee.major_version, version.pointee.minor_version) >= (2, 1) {
                    opcode = data.pointee.major_opcode
                }
                free(version)
            }
            try connection.check()
        }
        self.opcode = opcode
        listen(true)
    }

    /// Whether at least two looks in a row found the pointer unmoved.
    var seemsAtRest: Bool { looksAtRest >= 2 }

    /// Whether the server can report motion (XInput 2.1 or later).
    var isTold: Bool { opcode != nil }

    /// Handles an event; returns whether it came from XInput.
    func take(_ event: UnsafePointer<xcb_generic_event_t>) -> Bool {
        guard let opcode, event.pointee.response_type & 0x7F == UInt8(XCB_GE_GENERIC) else { return false }
        let generic = event.cast(to: xcb_ge_generic_event_t.self)
        if generic.extension != opcode { return false }
        if generic.event_type == UInt16(XCB_INPUT_RAW_MOTION) { begin() }
        return true
    }

    /// Starts looking regularly, because a look found the pointer elsewhere or an event says that it moves.
    private func begin() {
        isMoving = true
        looksAtRest = 0
        listen(false)
    }

    /// Notes a look at the pointer. Returns true if the caller must look again now: a move just before the events were
    /// switched on again would otherwise go unnoticed.
    func looked(_ now: MonotonicTime, moved: Bool) -> Bool {
        noteLook(now, moved: moved)
        if !isMoving || !seemsAtRest { return false }
        settle()
        return isTold
    }

    /// Notes a look at the pointer, without deciding yet whether it rests.
    func noteLook(_ now: MonotonicTime, moved: Bool) {
        lastLook = now
        if moved {
            // A pointer moved by a program causes no event. It may be moved again, so keep looking.
            begin()
        } else {
            looksAtRest += 1
        }
    }

    /// Treats the pointer as at rest: from now on the server reports motion. The caller must look again, to find a move
    /// that happened just before.
    func settle() {
        isMoving = false
        listen(true)
    }

    /// The time at which the next look is due.
    var nextLook: MonotonicTime {
        guard let lastLook else { return .zero }
        if isMoving { return lastLook + (isTold ? Self.movingPeriod : Self.pollingPeriod) }
        return lastLook + (isTold ? Self.restPeriod : Self.restPollingPeriod)
    }

    /// The time at which the next look is due if the pointer's shape has changed.
    var nextHurriedLook: MonotonicTime { lastLook.map { $0 + Self.movingPeriod } ?? .zero }

    /// Turns the events on or off.
    private func listen(_ on: Bool) {
        guard isTold, on != isListening else { return }
        isListening = on
        // The structure of one mask, followed by the mask itself (XInput 2, EVENTMASK).
        var request = (
            xcb_input_event_mask_t(deviceid: UInt16(XCB_INPUT_DEVICE_ALL_MASTER.rawValue), mask_len: 1),
            on ? UInt32(XCB_INPUT_XI_EVENT_MASK_RAW_MOTION.rawValue) : 0
        )
        withUnsafeBytes(of: &request) {
            _ = xcb_input_xi_select_events(
                connection.handle, connection.root, 1,
                $0.baseAddress?.assumingMemoryBound(to: xcb_input_event_mask_t.self))
        }
        xcb_flush(connection.handle)
    }
}
