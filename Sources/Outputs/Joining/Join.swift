import Clocks
import MediaTypes
public import ScreenRelayKit
import Signalling
import Synchronization
public import Threading

/// What a join is doing.
public enum JoinState: Hashable, Sendable {
    /// It has not been in the room yet.
    case joining
    /// It is in the room, with so many others, of whom some may get no picture.
    case joined(members: Int, excluded: ExcludedMembers?)
    /// It isn't in the room, for this reason, and tries again after 1 s at first, and 30 s at most.
    case waiting(because: String)
    /// It isn't in the room, and waits until it is let in, as long as the connection lasts.
    case waitingToBeLetIn
    /// The room takes nobody else; it tries again in the same way.
    case full
    /// It has been stopped.
    case ended
}

/// Members of a joined room that get no picture, such as those that can't decode 4:4:4.
public struct ExcludedMembers: Hashable, Sendable {
    /// How many there are.
    public let count: Int
    /// Why one of them gets none.
    public let reason: String
}

/// A room of somebody else's server, of which a host is a member: each other member is offered a track with its sound.
///
/// It connects, and when it loses the connection it joins again by itself, until it is stopped. Whatever happens to it
/// affects nothing else. The members with an answered session count as viewers of the track. Methods may be called on
/// any thread, and don't wait for the network.
public final class Join: Sendable {
    /// The room that is joined, and its server.
    public let target: JoinTarget
    private let thread = ConnectionThread()
    private let membership: RoomMembership
    private let current = CurrentState()

    /// Shared with the membership's closure, which must not keep the join alive.
    private final class CurrentState: Sendable {
        let state = Mutex(JoinState.joining)
    }

    /// Begins to join the room.
    ///
    /// - Parameter onState: called on the join's own thread with each new state; it must not block.
    /// - Throws: ``JoinError`` if the process has no thread left.
    public init(
        _ track: HostedTrack, into target: JoinTarget, log: EventLog = .silent,
        onState: @escaping @Sendable (JoinState) -> Void = { _ in }
    ) throws(JoinError) {
        self.target = target
        let current = self.current
        membership = RoomMembership(track, in: target, on: thread, log: log) { state in
            current.state.withLock { $0 = state }
            onState(state)
        }
        guard thread.start("join") else { throw JoinError("no thread is left for a join") }
        thread.post { [membership] in membership.begin() }
    }

    deinit { stop() }

    /// What it is doing.
    public var state: JoinState { current.state.withLock { $0 } }

    /// Leaves the room. Further calls do nothing.
    public func stop() {
        thread.post { [membership] in membership.end() }
        thread.stop()
    }

    /// Waits until it has left the room after `stop`, but not for longer than a second.
    public func waitForEnd() { thread.join(until: .now() + .seconds(1)) }
}
