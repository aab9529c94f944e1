public import Rooms

/// A room for two clients, neither of whom is the host. The first is told when the second comes, and offers. A third is
/// refused.
///
/// A pure core: its input is a client's events, its output the actions to perform, in order.
public struct CallRoom: Sendable {
    /// In the order in which they came; at most two.
    private var members: [(id: MemberID, state: PairState)] = []

    public init() {}

    /// Whether no client is in the room.
    public var isEmpty: Bool { members.isEmpty }

    /// A client with access asks to join. One that is in the room already starts over.
    public mutating func join(_ member: MemberID) -> [PairAction] {
        var actions = lost(member)
        guard members.count < 2 else { return actions + [.send(.notice(.full, about: member), to: member)] }
        members.append((member, .left))
        actions += [.joined(member)] + tell(member, .joined, about: member)
        return actions + tellOther(than: member, .otherJoined)
    }

    /// A client asks to leave.
    public mutating func leave(_ member: MemberID) -> [PairAction] {
        lost(member) + [.send(.notice(.left, about: member), to: member), .disconnect(member)]
    }

    /// A client's connection has closed.
    public mutating func lost(_ member: MemberID) -> [PairAction] {
        guard members.contains(where: { $0.id == member }) else { return [] }
        let actions = tellOther(than: member, .bye)
        members.removeAll { $0.id == member }
        return actions + [.left(member)]
    }

    /// A client has something for the other: JSON, in ASCII.
    public func message(_ json: String, from member: MemberID) -> [PairAction] {
        guard let other = other(than: member) else { return [] }
        return [.send(.relayed(json: json), to: other)]
    }

    /// The other member, if both are in the room.
    private func other(than member: MemberID) -> MemberID? {
        guard members.contains(where: { $0.id == member }) else { return nil }
        return members.first { $0.id != member }?.id
    }

    private mutating func tellOther(than member: MemberID, _ notice: PairNotice) -> [PairAction] {
        other(than: member).map { tell($0, notice, about: member) } ?? []
    }

    /// Sends a notice to a member, if it fits the member's state.
    private mutating func tell(_ receiver: MemberID, _ notice: PairNotice, about member: MemberID) -> [PairAction] {
        guard let index = members.firstIndex(where: { $0.id == receiver }), members[index].state.take(notice) else {
            return []
        }
        return [.send(.notice(notice, about: member), to: receiver)]
    }
}
