import MediaTypes
import Rooms

/// What to do for a room that is joined.
enum Wish: Sendable, Equatable {
    /// Send this text to the server.
    case send(String)
    /// The server has let us in.
    case joined
    /// Somebody has to let us in, which may take any time.
    case waits
    /// Offer to this member; `offered` or `lost` reports the result.
    case offer(to: String)
    /// Answer this member's offer; `answered` or `notAnswered` reports the result.
    case answer(String, offer: String)
    /// Use this member's answer; `lost` reports that it can't be used.
    case accept(String, answer: String)
    case candidate(String, String)
    /// End the session with this member. Nothing is reported.
    case close(String)
    /// The connection to the server is of no use any longer.
    case fail(RoomJoinError)
}

/// Why a room can't be joined, or not any longer.
enum RoomJoinError: Sendable, Equatable, Error {
    /// Others have its places.
    case full
    /// In words.
    case broken(String)
}

/// The other members of a room, and what there is between each of them and us.
///
/// A pure value: events in, wishes out.
struct Calls {
    /// The most members that are called.
    static let maxCount = 64
    /// The longest identifier of a member, in bytes.
    private static let maxName = 128
    /// How often in a row a member is offered to that doesn't answer, or whose session ends soon.
    private static let tries = 5
    /// A session that lasted for so long worked.
    private static let lasting = Interval.seconds(30)

    private enum Session {
        case none
        /// We have offered at this time.
        case offered
        /// Both descriptions have been given, at this time.
        case open(since: MonotonicTime)
    }

    private struct Call {
        /// Whether we are the one that offers, by the protocol's rule.
        var isOurs: Bool
        var session = Session.none
        /// How often we have offered in vain.
        var tries = 0
        /// When to offer, if nothing happens before.
        var offerAt = MonotonicTime.distantFuture
    }

    private var calls: [String: Call] = [:]

    /// The number of other members.
    var count: Int { calls.count }

    /// A member is there. If the rule says that it offers to us, it has `timeout` for that before we do.
    mutating func came(_ member: String, weOffer: Bool, timeout: Interval? = nil, at now: MonotonicTime) -> [Wish] {
        guard calls[member] == nil, hasRoom(for: member) else { return [] }
        calls[member] = Call(isOurs: weOffer)
        if let timeout { calls[member]?.offerAt = now + timeout }
        return weOffer ? offer(to: member) : []
    }

    mutating func left(_ member: String) -> [Wish] {
        calls.removeValue(forKey: member) == nil ? [] : [.close(member)]
    }

    /// A member has offered to us. If both have, the one whose turn it is wins.
    mutating func offer(from member: String, _ sdp: String) -> [Wish] {
        // A server may forget to say that somebody has come.
        if calls[member] == nil, hasRoom(for: member) { calls[member] = Call(isOurs: false) }
        guard var call = calls[member] else { return [] }
        if call.isOurs, case .offered = call.session { return [] }
        call.session = .none
        call.offerAt = .distantFuture
        calls[member] = call
        return [.close(member), .answer(member, offer: sdp)]
    }

    mutating func answer(from member: String, _ sdp: String, at now: MonotonicTime) -> [Wish] {
        guard case .offered? = calls[member]?.session else { return [] }
        calls[member]?.session = .open(since: now)
        return [.accept(member, answer: sdp)]
    }

    func candidate(of member: String, _ candidate: ICECandidate) -> [Wish] {
        calls[member] == nil ? [] : [.candidate(member, candidate.candidate)]
    }

    /// The member's offer has been answered.
    mutating func answered(_ member: String, at now: MonotonicTime) {
        calls[member]?.session = .open(since: now)
    }

    /// The member's offer can't be answered, because it wants something else than a picture: it gets ours.
    mutating func notAnswered(_ member: String) -> [Wish] { offer(to: member) }

    /// The member has no session any longer, or wasn't given one: it is offered another one, after a while that grows.
    mutating func lost(_ member: String, at now: MonotonicTime) {
        guard var call = calls[member] else { return }
        if case .open(let since) = call.session, now - since >= Self.lasting { call.tries = 0 }
        call.session = .none
        call.offerAt = call.tries < Self.tries ? now + .seconds(1) * Int64(1 << call.tries) : .distantFuture
        calls[member] = call
    }

    /// Does what is due.
    mutating func poll(at now: MonotonicTime) -> [Wish] {
        let due = calls.filter { $0.value.offerAt <= now }.keys.sorted()
        return due.flatMap { offer(to: $0) }
    }

    private mutating func offer(to member: String) -> [Wish] {
        guard var call = calls[member], call.tries < Self.tries else { return [] }
        call.tries += 1
        call.session = .offered
        call.offerAt = .distantFuture
        calls[member] = call
        return [.offer(to: member)]
    }

    private func hasRoom(for member: String) -> Bool {
        calls.count < Self.maxCount && !member.isEmpty && member.utf8.count <= Self.maxName
    }
}
