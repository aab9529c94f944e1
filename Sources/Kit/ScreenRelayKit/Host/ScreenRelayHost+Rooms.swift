import Clocks
import MediaTypes
public import Signalling
import Synchronization
import Threading

extension ScreenRelayHost {
    static let answerTimeout = Interval.seconds(1)

    /// The rooms with their links, and who is in them now. Waits for the signalling thread; nil if that takes more than
    /// 1 s or the thread has ended.
    public func rooms() -> RoomsDocument? {
        let answer = OneShot<RoomsDocument>()
        signalling.describe { answer?.give($0) }
        guard var document = answer?.wait(until: .now() + Self.answerTimeout) else { return nil }
        let links = linksDocument().rooms
        for index in document.rooms.indices {
            let name = document.rooms[index].name
            document.rooms[index].links = links.first { $0.name == name }?.links
        }
        return document
    }

    /// Removes a participant by the identifier from ``rooms()`` or `onVisit`. Returns false if no one has that
    /// identifier. A participant who has the link can come back. Waits like ``rooms()``.
    public func removeParticipant(_ id: String) -> Bool {
        let answer = OneShot<Bool>()
        signalling.removeParticipant(id) { answer?.give($0) }
        return answer?.wait(until: .now() + Self.answerTimeout) ?? false
    }

    /// Decides about the turn to present of a member of ``rooms()``. A turn that is allowed ends after `limit`, rounded
    /// down to seconds; nil means no limit. Returns false if the member isn't there, hasn't asked, or has no turn to
    /// end. Waits like ``rooms()``.
    public func decide(_ decision: TurnDecision, turnOf id: String, for limit: Duration? = nil) -> Bool {
        let answer = OneShot<Bool>()
        let interval = limit.map { Interval.seconds($0.components.seconds) }
        signalling.decide(decision, turnOf: id, for: interval) { answer?.give($0) }
        return answer?.wait(until: .now() + Self.answerTimeout) ?? false
    }

    /// Locks a room, so that no one enters without its presenting token, or unlocks it; all rooms if `room` is nil. Its
    /// participants stay. Returns false if there is no such room. Waits like ``rooms()``.
    public func lock(_ isLocked: Bool, room: String? = nil) -> Bool {
        let answer = OneShot<Bool>()
        signalling.lock(isLocked, room: room) { answer?.give($0) }
        return answer?.wait(until: .now() + Self.answerTimeout) ?? false
    }

    /// Decides about a client that waits to be let in, by its identifier from ``rooms()``, or about all of them if `id`
    /// is nil. Returns the number of clients that this was about. Waits like ``rooms()``.
    public func decide(_ decision: EntryDecision, entryOf id: String?) -> Int {
        let answer = OneShot<Int>()
        signalling.decide(decision, entryOf: id) { answer?.give($0) }
        return answer?.wait(until: .now() + Self.answerTimeout) ?? 0
    }

    /// Whether newcomers enter a room now, and who waits to be let in.
    public func door(of room: String) -> DoorState { signalling.door(of: room) }

    /// The names of all rooms, beginning with ``room``.
    public var roomNames: [String] { [room] + configuration.furtherRooms.map(\.name) }

    /// Lists a publisher over another protocol than WHIP among the participants of its track's room, until
    /// ``publisherLeft(_:)``. Calls `remove` on the signalling thread when the publisher has to leave the room.
    func publisherCame(
        _ id: String, from address: String, into track: HostedTrack, remove: @escaping @Sendable () -> Void
    ) {
        signalling.publisherCame(id, from: address, to: track.room, track: track.name, remove: remove)
    }

    /// Ends the listing of such a publisher, if it is listed.
    func publisherLeft(_ id: String) { signalling.publisherLeft(id) }
}

/// Waits until another thread gives a value to the reply that is passed to `ask`. Returns `fallback` if the reply is
/// released without one.
func reply<Value: Sendable>(or fallback: Value, _ ask: (Reply<Value>) -> Void) async -> Value {
    await withCheckedContinuation { ask(Reply($0, or: fallback)) }
}

/// A value that a task waits for and another thread gives. If it is released without a value, the task gets the
/// fallback.
final class Reply<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, Never>?>
    private let fallback: Value

    fileprivate init(_ continuation: CheckedContinuation<Value, Never>, or fallback: Value) {
        self.continuation = Mutex(continuation)
        self.fallback = fallback
    }

    deinit { give(fallback) }

    func give(_ value: Value) {
        continuation.withLock { $0.take() }?.resume(returning: value)
    }
}
