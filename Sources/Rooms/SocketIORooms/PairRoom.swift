public import Rooms

/// An event in a one-to-one room.
public enum PairEvent: Sendable, Equatable {
    /// A client with access asks to join.
    case join(MemberID)
    /// A client asks to leave.
    case leave(MemberID)
    /// A client's connection has closed.
    case lost(MemberID)
    /// The media layer has made the offer that `openSession` asked for.
    case offered(MemberID, sdp: String)
    /// The media layer can't make an offer, because it serves as many members as it can or for another reason.
    case notOffered(MemberID, isFull: Bool)
    /// A client sent an offer.
    case offer(MemberID, sdp: String)
    /// The media layer has answered the client's offer.
    case answered(MemberID, sdp: String)
    /// A client answered the host's offer.
    case answer(MemberID, sdp: String)
    /// A client sent an ICE candidate.
    case candidate(MemberID, ICECandidate)
    /// The media layer has rejected a client's offer or answer; there is no session.
    case refused(MemberID)
    /// The media layer has ended a client's session on its own.
    case sessionEnded(MemberID)
    /// The host has nothing to show any longer.
    case hostGone
    /// The host has something to show again.
    case hostBack
}

/// An action to perform in response.
public enum PairAction: Sendable, Equatable {
    case send(PairMessage, to: MemberID)
    /// The client has joined the room.
    case joined(MemberID)
    /// The client has left the room.
    case left(MemberID)
    /// Have the media layer make an offer. `offered` or `notOffered` reports the result.
    case openSession(MemberID)
    /// Have the media layer answer the client's offer. `answered` or `refused` reports the result.
    case answerOffer(MemberID, sdp: String)
    /// Hand the client's answer to the media layer, which reports `refused` if it rejects it.
    case acceptAnswer(MemberID, sdp: String)
    case addCandidate(MemberID, ICECandidate)
    /// End the client's session. No event follows.
    case closeSession(MemberID)
    /// Say goodbye to the client once everything is sent, and close its connection.
    case disconnect(MemberID)
}

/// A room for two, one of whom is the host. The host is there first, so it offers to the client. A third member is
/// refused.
///
/// A pure core: events in, actions out; no thread, no clock, no I/O. If the host can't offer, or its session has ended,
/// it acts as if it joined again after the client: the client is then the first, is told `otherjoin`, and offers.
public struct PairRoom: Sendable {
    private enum Session: Sendable {
        case none
        /// Requested, and neither open nor refused yet.
        case asked
        /// The host has offered, and the client hasn't answered.
        case offered
        case open
    }

    /// The host's identifier, under which it joins.
    public let host: MemberID
    /// The client in the room, if any.
    public private(set) var client: MemberID?
    /// The host's state.
    public private(set) var hostState: PairState
    /// The client's state; `left` without a client.
    public private(set) var clientState = PairState.left
    private var session = Session.none
    /// The number of events that were ignored, because they didn't fit their sender's state.
    public private(set) var ignoredEvents = 0

    /// Creates a room without a client. The host is in it while it has something to show.
    public init(host: MemberID, isHostThere: Bool = true) {
        self.host = host
        hostState = isHostThere ? .joined : .left
    }

    /// Whether only the host is in the room.
    public var isEmpty: Bool { client == nil }

    /// Processes one event and returns the actions to perform, in order.
    public mutating func handle(_ event: PairEvent) -> [PairAction] {
        switch event {
        case .join(let member): return join(member)
        case .leave(let member): return leave(member)
        case .lost(let member): return remove(member)
        case .hostGone: return hostGone()
        case .hostBack: return hostBack()
        case .offered(let member, _), .notOffered(let member, _), .offer(let member, _), .answered(let member, _),
            .answer(let member, _), .candidate(let member, _), .refused(let member), .sessionEnded(let member):
            guard member == client else { return ignored() }
            return talk(event, member)
        }
    }
}

// MARK: - Coming and going

extension PairRoom {
    private mutating func join(_ member: MemberID) -> [PairAction] {
        // A client that joins again starts over.
        var actions = remove(member)
        guard client == nil else { return actions + [.send(.notice(.full, about: member), to: member)] }
        client = member
        // The host is told and offers. If the host is away, the client waits for it.
        if hostState.take(.otherJoined) {
            session = .asked
            actions.append(.openSession(member))
        } else {
            actions += [.joined(member)] + tell(.joined, about: member)
        }
        return actions
    }

    private mutating func leave(_ member: MemberID) -> [PairAction] {
        remove(member) + [.send(.notice(.left, about: member), to: member), .disconnect(member)]
    }

    /// Removes the member and tells the host `bye`.
    private mutating func remove(_ member: MemberID) -> [PairAction] {
        guard client == member else { return [] }
        let actions = closeSession(of: member)
        client = nil
        clientState = .left
        _ = hostState.take(.bye)
        return actions + [.left(member)]
    }

    private mutating func hostGone() -> [PairAction] {
        guard hostState.take(.left), let client else { return [] }
        return closeSession(of: client) + tell(.bye, about: host)
    }

    private mutating func hostBack() -> [PairAction] {
        guard hostState.take(.joined), client != nil else { return [] }
        return tell(.otherJoined, about: host)
    }

    private mutating func closeSession(of member: MemberID) -> [PairAction] {
        defer { session = .none }
        switch session {
        case .none, .asked: return []
        case .offered, .open: return [.closeSession(member)]
        }
    }

    /// Sends a notice to the client, if it fits the client's state.
    private mutating func tell(_ notice: PairNotice, about member: MemberID) -> [PairAction] {
        guard let client, clientState.take(notice) else { return [] }
        return [.send(.notice(notice, about: member), to: client)]
    }
}

// MARK: - Talking

extension PairRoom {
    private mutating func talk(_ event: PairEvent, _ member: MemberID) -> [PairAction] {
        switch (event, session) {
        case (.offered(_, let sdp), .asked):
            session = .offered
            return [.joined(member)] + tell(.joined, about: member) + [.send(.offer(sdp: sdp), to: member)]
        case (.notOffered(_, isFull: true), .asked):
            let actions = remove(member).filter { $0 != .left(member) }
            return actions + [.send(.notice(.full, about: member), to: member)]
        case (.notOffered, .asked):
            session = .none
            return [.joined(member)] + tell(.joined, about: member) + tell(.otherJoined, about: host)
        case (.offer(_, let sdp), _) where clientState == .joined || clientState == .connected:
            guard hostState.isInside else { return ignored() }
            let actions = closeSession(of: member)
            session = .asked
            return actions + [.answerOffer(member, sdp: sdp)]
        case (.answered(_, let sdp), .asked):
            session = .open
            return [.send(.answer(sdp: sdp), to: member)]
        case (.answer(_, let sdp), .offered):
            session = .open
            return [.acceptAnswer(member, sdp: sdp)]
        case (.candidate(_, let candidate), .offered), (.candidate(_, let candidate), .open):
            return [.addCandidate(member, candidate)]
        case (.refused, .asked), (.refused, .open):
            session = .none
            return tell(.bye, about: host)
        case (.sessionEnded, .offered), (.sessionEnded, .open):
            session = .none
            // The client's network may have changed: let it offer again.
            return tell(.bye, about: host) + tell(.otherJoined, about: host)
        default: return ignored()
        }
    }

    private mutating func ignored() -> [PairAction] {
        ignoredEvents &+= 1
        return []
    }
}
