import Clocks
import Glibc
public import LinkTransport
public import MediaTypes
import SessionBus
import Threading

/// A screen cast that the desktop's portal grants: org.freedesktop.portal.ScreenCast, version 4 or later.
///
/// `init` begins to open the session, which may take as long as the user thinks about the desktop's dialog. Nothing
/// here waits except ``open(waitingUntil:)``: the caller polls ``fileDescriptor``, and calls ``process()`` when it is
/// ready or ``deadline`` has passed, also after the session was opened. The desktop ends the screen cast when this
/// object is released. Not thread-safe.
public final class PortalSession {
    /// How far a session is.
    public enum State: Equatable, Sendable {
        /// The portal is asked for a session, or for its remote.
        case opening
        /// The desktop selects the source. Unless a restore token says which, the user is asked.
        case asking
        /// There are streams and a remote.
        case open
        /// There is no session, or no longer one.
        case ended(PortalError)
    }

    /// How far it is; changes only in `init` and `process`.
    public internal(set) var state = State.opening
    /// What is shared, at least one stream; empty until the session is open.
    public internal(set) var streams: [PortalStream] = []
    /// How the pictures show the pointer; only right once the session is open.
    public internal(set) var cursorMode = PortalCursorMode.hidden
    /// What opens a session for the same source next time, once, without asking the user; nil until the session is
    /// open, or if the desktop gives none.
    public internal(set) var restoreToken: String?

    let bus: BusConnection
    let wanted: PortalSourceTypes
    let embedsPointer: Bool
    var remote: FileDescriptor?

    /// The calls of the portal, one after the other.
    enum Step: String {
        case reading = "GetAll"
        case creating = "CreateSession"
        case selecting = "SelectSources"
        case starting = "Start"
        case connecting = "OpenPipeWireRemote"
    }

    var step = Step.reading
    /// The token that is yet to be tried.
    var givenToken: String?
    /// What the portal can do, once it has said it.
    var properties: PortalProperties?
    /// The unique name of the portal, once it has answered.
    var portal: String?
    /// The session's path, once it was created.
    var path = ""
    /// The request of this step, if it is one.
    var request = PortalRequest()
    /// How many calls were made, for the names of their requests.
    var callCount = 0
    /// When the step has taken too long. The user may take any time.
    var limit = MonotonicTime.distantFuture

    /// How long a step may take that doesn't wait for the user, as for a call of the bus.
    static let patience = Interval.seconds(25)

    /// Begins to open a session with one source of these types, of those that the desktop has.
    ///
    /// - Parameter restoreToken: the token of an earlier session. If it can't be used, the user is asked.
    /// - Parameter embedsPointer: whether the pointer is to be drawn into the pictures, if the desktop can do that,
    ///   instead of coming as metadata.
    /// - Parameter busAddress: the address of the bus with the portal; nil for the user's.
    public init(
        sources: PortalSourceTypes, restoreToken: String? = nil, embedsPointer: Bool = false, busAddress: String? = nil
    ) {
        wanted = sources
        self.embedsPointer = embedsPointer
        givenToken = restoreToken
        bus = BusConnection(address: busAddress)
        guard bus.failure == 0 else {
            state = .ended(.noBus(code: bus.failure))
            return
        }
        bus.listener = self
        begin()
    }

    /// The descriptor to poll for `events`; -1 if there is nothing to wait for.
    public var fileDescriptor: Int32 { bus.fileDescriptor }

    /// The events to poll `fileDescriptor` for.
    public var events: Int32 { bus.events }

    /// The time at which `process` has something to do even if nothing arrives.
    public var deadline: MonotonicTime { min(bus.deadline, limit) }

    /// Reads what the portal has sent, and continues. Never waits.
    public func process() {
        if !hasEnded {
            if !bus.process() {
                end(.busGone)
            } else if limit <= MonotonicTime.now() {
                end(.timedOut(call: step.rawValue))
            }
        }
        if hasEnded { bus.close() }
    }

    /// Waits until the session is open. Returns false if `stop` becomes readable before; negative is no descriptor.
    ///
    /// - Throws: ``PortalError`` if there is no session, such as `cancelled`.
    public func open(waitingUntil stop: Int32 = -1) throws(PortalError) -> Bool {
        while true {
            switch state {
            case .open: return true
            case .ended(let error): throw error
            case .opening, .asking: break
            }
            var entries = [pollfd(fileDescriptor, events), pollfd(stop)]
            waitForEvents(&entries, until: deadline)
            if entries[1].isReady { return false }
            process()
        }
    }

    /// The kinds of source that the desktop can share, of those that are wanted. The user isn't asked. Waits at most
    /// 25 s for the portal, which may have to be started.
    ///
    /// - Throws: ``PortalError`` if it can share none of them.
    public static func availableSources(
        of wanted: PortalSourceTypes, busAddress: String? = nil
    ) throws(PortalError) -> PortalSourceTypes {
        let session = PortalSession(sources: wanted, busAddress: busAddress)
        while true {
            if let properties = session.properties { return properties.sources }
            if case .ended(let error) = session.state { throw error }
            waitForEvents(on: session.fileDescriptor, session.events, until: session.deadline)
            session.process()
        }
    }

    /// Hands over the connection to PipeWire in which the streams are; nil until the session is open, and after the
    /// first call.
    public func takeRemote() -> FileDescriptor? { remote.take() }

    var hasEnded: Bool { if case .ended = state { true } else { false } }

    func end(_ error: PortalError) {
        if hasEnded { return }
        state = .ended(error)
        limit = .distantFuture
    }
}
