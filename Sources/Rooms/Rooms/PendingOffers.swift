/// The offers within a mesh that wait for an answer. It also resolves glare, where the offers of two members cross.
///
/// The member who joined later is the one who should offer, so its offer wins. The earlier member's offer is dropped
/// or, if it has already been passed on, the answer to it is. The earlier member then rolls its own offer back and
/// answers the other.
struct PendingOffers: Sendable {
    /// By sender and receiver: whether the offer has already won against another.
    private var waiting: [MemberID: [MemberID: Bool]] = [:]

    var isEmpty: Bool { waiting.isEmpty }

    /// Returns whether to pass an offer on. `isLater` says whether `sender` joined the mesh after `receiver`.
    mutating func offer(from sender: MemberID, to receiver: MemberID, isLater: Bool) -> Bool {
        if let hasWon = waiting[receiver]?[sender] {
            if !isLater, !hasWon {
                // Only once: a client that offers again instead of answering doesn't know how to give way.
                waiting[receiver]?[sender] = true
                return false
            }
            remove(from: receiver, to: sender)
        }
        waiting[sender, default: [:]][receiver] = false
        return true
    }

    /// Returns whether to pass an answer on, which requires a pending offer from `receiver` to `sender`.
    mutating func answer(from sender: MemberID, to receiver: MemberID) -> Bool {
        remove(from: receiver, to: sender)
    }

    /// Removes all offers of a member that has left the mesh, and all offers to it.
    mutating func forget(_ member: MemberID) {
        waiting[member] = nil
        for sender in Array(waiting.keys) { remove(from: sender, to: member) }
    }

    @discardableResult
    private mutating func remove(from sender: MemberID, to receiver: MemberID) -> Bool {
        guard waiting[sender]?.removeValue(forKey: receiver) != nil else { return false }
        if waiting[sender]?.isEmpty == true { waiting[sender] = nil }
        return true
    }
}
