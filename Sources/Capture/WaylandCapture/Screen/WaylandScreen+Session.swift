public import CaptureEngine
import CaptureLink
import Clocks
import LinkTransport
public import MediaTypes
import Threading

/// The portal's session that a screen belongs to.
extension WaylandScreen {
    /// How long to wait for the portal to say why the pictures have ended.
    private static let reasonTimeout = Interval.seconds(1)

    /// Connects to the first stream of a session that is open, keeps the session, and waits for the first picture. That
    /// of a new monitor may come later.
    ///
    /// - Parameters:
    ///   - framesPerSecond: The highest rate at which the compositor is to send pictures.
    ///   - newMonitor: The wanted size of a monitor that the desktop makes for the session; nil if it shares something
    ///     that is there already.
    ///   - environment: Returns the value of a variable.
    ///   - onWarning: Receives a line for anything that doesn't work as well as it could.
    /// - Throws: `screen` with a ``CastError``, or with a ``PortalError`` if the session has no stream.
    public static func open(
        _ session: PortalSession, framesPerSecond: Int, newMonitor: PictureSize? = nil,
        environment: (String) -> String?, onWarning: @escaping (String) -> Void
    ) throws(CaptureError) -> WaylandScreen {
        guard let shared = session.streams.first, let remote = session.takeRemote() else {
            throw .screen(PortalError.malformed("streams"))
        }
        // A new monitor comes and goes with the session, so that it is never unplugged.
        let monitor = newMonitor == nil ? SharedMonitor(of: shared, environment: environment) : nil
        do throws(CastError) {
            return try WaylandScreen(
                remote: remote, node: shared.node, of: session, on: monitor, framesPerSecond: framesPerSecond,
                newMonitor: newMonitor, onWarning: onWarning)
        } catch {
            throw .screen(error)
        }
    }

    /// When the portal's connection has something to do that its descriptor doesn't show, when a picture was put off
    /// for long enough, when to look for lost ones, or when a new one is to be asked for again.
    public var nextCheck: MonotonicTime {
        min(
            session?.deadline ?? .distantFuture, stream.putOffUntil ?? .distantFuture,
            stream.nextLook ?? .distantFuture, resumption?.nextStep ?? .distantFuture)
    }

    /// The reason why the session has ended; nil if it hasn't, or if there is none.
    var endOfSession: PortalError? {
        if case .ended(let error)? = session?.state { error } else { nil }
    }

    /// Why the pictures have ended. A desktop that stops sharing ends both stream and session, in any order, and only
    /// the session's end says that sharing mustn't begin again.
    func reason(for failure: CastError) -> any ScreenError {
        guard let session, failure.mayBeWanted else { return failure }
        let end = MonotonicTime.now() + Self.reasonTimeout
        while endOfSession == nil, MonotonicTime.now() < end {
            waitForEvents(on: session.fileDescriptor, session.events, until: min(end, session.deadline))
            session.process()
        }
        if let endOfSession { return endOfSession }
        return failure
    }

    /// Ends the screen because of `reason`; if that is only that the shared monitor is unplugged, the screen waits for
    /// one instead, and false is returned.
    func end(_ reason: any ScreenError) throws(CaptureError) -> Bool {
        let isEndOfCast = (reason as? PortalError) == .closed || (reason as? CastError)?.mayBeWanted == true
        guard isEndOfCast, let monitor, monitor.hasJustChanged() else { throw .screen(reason) }
        // A monitor that is still there can be shared again at once, whatever its size and place are now.
        guard monitor.isGone else { throw .screen(CastError.monitorChanged) }
        stream.close()
        (isOutdated, resumption) = (false, nil)
        isWaiting = true
        return try awaitMonitor()
    }

    /// Throws once there is a monitor to ask for, or no compositor that could have one; otherwise returns false.
    ///
    /// The desktop isn't asked before that: it would show its dialog, because what was shared isn't there.
    func awaitMonitor() throws(CaptureError) -> Bool {
        guard let monitor else { return false }
        if monitor.hasSuccessor { throw .screen(CastError.monitorChanged) }
        if monitor.descriptor < 0 { throw .screen(CastError.ended) }
        return false
    }
}
