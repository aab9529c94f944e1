public import Rooms

/// What happens in a one-to-one room.
public enum PairEvent: Sendable, Equatable {
    /// A client asks to come in, and may.
    case join(MemberID)
    /// A client asks to leave.
    case leave(MemberID)
    /// A client's connection is gone.
    case lost(MemberID)
    /// The media side has made the offer that `openSession` asked for.
    case offered(MemberID, sdp: String)
    /// The media side can't make one, because it serves as many as it can or for another reason.
    case notOffered(MemberID, isFull: Bool)
    /// A client's own offer.
    case offer(MemberID, sdp: String)
    /// The media side has answered that.
    case answered(MemberID, sdp: String)
    /// A client's answer to the host's offer.
    case answer(MemberID, sdp: String)
    /// A client's candidate.
    case candidate(MemberID, ICECandidate)
    /// The media side won't have a client's offer or answer; there is no session.
    case refused(MemberID)
    /// The media side has ended a client's session by itself.
    case sessionEnded(MemberID)
    /// The host has nothing to show any more.
    case hostGone
    /// The host has something to show again.
    case hostBack
}

/// What is to be done about it.
public enum PairAction: Sendable, Equatable {
    case send(PairMessage, to: MemberID)
    /// The client is in the room.
    case joined(MemberID)
    /// The client is in the room no more.
    case left(MemberID)
    /// Have the media side make an offer; `offered` or `notOffered` answers this.
    case openSession(MemberID)
    /// Have the media side answer the client's offer; `answered` or `refused` answers this.
    case answerOffer(MemberID, sdp: String)
    /// Hand the client's answer to the media side; `refused` where it won't have it.
    case acceptAnswer(MemberID, sdp: String)
    case addCandidate(MemberID, ICECandidate)
    /// End the client's session. No event answers this.
    case closeSession(MemberID)
    /// Say goodbye to the client when all is sent, and close its connection.
    case disconnect(MemberID)
}

/// A room of two, one of whom is the host, who is there first: so it offers to who comes after it. A third is one too many.
///
/// A core: events in, actions out; no thread, no clock, no I/O. Where the host can't offer, or has lost its session, it comes in
/// anew after the client: then the client is the first, is told `otherjoin`, and offers.
public struct PairRoom: Sendable {
    private enum Session: Sendable {
        case none
        /// Asked for, and neither there nor refused.
        case asked
        /// The host has offered and the client hasn't answered.
        case offered
        case open
    }

    public let host: MemberID
    /// Who is in the room beside the host.
    public private(set) var client: MemberID?
    public private(set) var hostState: PairState
    public private(set) var clientState = PairState.left
    private var session = Session.none
    /// Events that didn't fit where their sender stands, and so did nothing.
    public private(set) var ignoredEvents = 0

    /// A room without a client; its host is there while it has something to show.
    public init(host: MemberID, isHostThere: Bool = true) {
        self.host = host
        hostState = isHostThere ? .joined : .left
    }

    /// Whether nobody but the host is there.
    public var isEmpty: Bool { client == nil }

    /// Takes one event and says what is to be done, in order.
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
        // Who joins again begins anew.
        var actions = remove(member)
        guard client == nil else { return actions + [.send(.notice(.full, about: member), to: member)] }
        client = member
        // The host hears of it, and offers; where it is away, the client waits for it.
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

    /// The member is out; the host hears `bye`.
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

    /// Says it to the client, if that can be said to it now.
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
            // Perhaps its network has changed: it may offer anew.
            return tell(.bye, about: host) + tell(.otherJoined, about: host)
        default: return ignored()
        }
    }

    private mutating func ignored() -> [PairAction] {
        ignoredEvents &+= 1
        return []
    }
}
