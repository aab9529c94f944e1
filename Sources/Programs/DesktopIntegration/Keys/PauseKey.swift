import CXCB
import Clocks
import DisplayConnection
import Glibc
import MediaTypes
import Threading

/// A key of an X display that pauses and resumes, whatever window has the focus: a passive grab on the root window
/// (X11 protocol, GrabKey). For one thread, which waits for ``descriptor``.
final class PauseKey: SharersKey {
    /// Why a key can't be used.
    enum Problem: KeyProblem {
        case noDisplay
        case noAnswer
        case noSuchKey
        case taken

        var description: String {
            switch self {
            case .noDisplay: "the X display can't be opened"
            case .noAnswer: "the X display doesn't answer"
            case .noSuchKey: "this display's keyboard has no such key"
            case .taken: "another program has this key; choose another one"
            }
        }

        var isTemporary: Bool {
            switch self {
            case .noDisplay, .noAnswer: true
            case .noSuchKey, .taken: false
            }
        }
    }

    /// How long the server may take to answer. Meanwhile, signals wait.
    private static let timeout = Interval.seconds(2)

    private let connection: OpaquePointer
    private let roots: [xcb_window_t]
    private let chord: KeyChord
    /// What is grabbed: the key's code, and the chord's modifiers with each combination of the locks.
    private var grabbed: (code: UInt8, combinations: Set<UInt16>)?
    /// When the grabbed key was last released. An automatic repetition presses it at the same time.
    private var released: xcb_timestamp_t?

    /// Connects to `display`, or to DISPLAY's if it is nil, and grabs the key. Waits for the server 2 s at most.
    init(_ chord: KeyChord, display: String?) throws(Problem) {
        let deadline = MonotonicTime.now() + Self.timeout
        guard let (connection, _) = DisplayConnection.open(display, within: Self.timeout) else { throw .noAnswer }
        guard xcb_connection_has_error(connection) == 0, let setup = xcb_get_setup(connection) else {
            xcb_disconnect(connection)
            throw .noDisplay
        }
        var screens = xcb_setup_roots_iterator(setup)
        var roots: [xcb_window_t] = []
        while screens.rem > 0, let screen = screens.data {
            roots.append(screen.pointee.root)
            xcb_screen_next(&screens)
        }
        self.connection = connection
        self.roots = roots
        self.chord = chord
        try grab(until: deadline)
    }

    deinit {
        // The server releases the grabs.
        xcb_disconnect(connection)
    }

    var entry: pollfd { pollfd(xcb_get_file_descriptor(connection)) }

    var deadline: MonotonicTime { .distantFuture }

    func handleEvents() throws(Problem) -> Int {
        var (presses, isRemapped) = (0, false)
        repeat {
            isRemapped = false
            while let event = xcb_poll_for_event(connection) {
                defer { free(event) }
                let bytes = UnsafeRawPointer(event)
                // With the highest bit, another program has made the event up.
                switch Int32(event.pointee.response_type) {
                case XCB_KEY_PRESS:
                    if bytes.loadUnaligned(as: xcb_key_press_event_t.self).time != released { presses += 1 }
                    released = nil
                case XCB_KEY_RELEASE: released = bytes.loadUnaligned(as: xcb_key_release_event_t.self).time
                case XCB_MAPPING_NOTIFY:
                    let request = bytes.loadUnaligned(as: xcb_mapping_notify_event_t.self).request
                    if request != UInt8(XCB_MAPPING_POINTER.rawValue) { isRemapped = true }
                default: break
                }
            }
            guard xcb_connection_has_error(connection) == 0 else { throw .noDisplay }
            // Events that arrive with the answers don't make the descriptor readable, so they are handled now.
            if isRemapped { try grab(until: MonotonicTime.now() + Self.timeout) }
        } while isRemapped
        return presses
    }

    /// Grabs the key with each combination of the locks: a grab holds only for exactly its modifiers.
    private func grab(until deadline: MonotonicTime) throws(Problem) {
        guard let keyboard = Keyboard(connection, until: deadline) else { throw failure }
        guard let code = keyboard.code(of: chord.symbol) else { throw .noSuchKey }
        var combinations: Set<UInt16> = [chord.modifiers]
        for lock in keyboard.locks { combinations.formUnion(combinations.map { $0 | lock }) }
        if let grabbed {
            // The server also reports a new mapping if another keyboard of the same layout is used.
            if grabbed == (code, combinations) { return }
            for root in roots {
                xcb_ungrab_key(
                    connection, UInt8(XCB_GRAB_ANY.rawValue), root, UInt16(XCB_MOD_MASK_ANY.rawValue))
            }
        }
        grabbed = (code, combinations)
        let mode = UInt8(XCB_GRAB_MODE_ASYNC.rawValue)
        var cookies: [xcb_void_cookie_t] = []
        for root in roots {
            for modifiers in combinations {
                cookies.append(xcb_grab_key_checked(connection, 0, root, modifiers, code, mode, mode))
            }
        }
        // After this reply, all requests before it are known to have succeeded or failed.
        let last = xcb_get_input_focus(connection)
        guard
            let reply = serverReply(
                of: xcb_get_input_focus_reply_t.self, to: last.sequence, on: connection, until: deadline)
        else { throw failure }
        free(reply)
        var isTaken = false
        for cookie in cookies {
            guard let error = xcb_request_check(connection, cookie) else { continue }
            free(error)
            isTaken = true
        }
        guard xcb_connection_has_error(connection) == 0 else { throw .noDisplay }
        if isTaken { throw .taken }
    }

    /// Why the server hasn't answered.
    private var failure: Problem { xcb_connection_has_error(connection) == 0 ? .noAnswer : .noDisplay }
}
