/// The offers within a mesh that wait for their answer, and who gives way where two cross.
///
/// Who came later offers, so the later one's offer wins: the earlier one's is dropped, or, where it has been passed on already,
/// its answer is. The earlier one then has an offer to answer, and takes its own back.
struct PendingOffers: Sendable {
    /// From whom, to whom, and whether the offer has won against another already.
    private var waiting: [MemberID: [MemberID: Bool]] = [:]

    var isEmpty: Bool { waiting.isEmpty }

    /// Whether an offer is to be passed on. `isLater`: `sender` came into the mesh after `receiver`.
    mutating func offer(from sender: MemberID, to receiver: MemberID, isLater: Bool) -> Bool {
        if let hasWon = waiting[receiver]?[sender] {
            if !isLater, !hasWon {
                // Once: who offers yet again, instead of answering, doesn't know how to give way.
                waiting[receiver]?[sender] = true
                return false
            }
            remove(from: receiver, to: sender)
        }
        waiting[sender, default: [:]][receiver] = false
        return true
    }

    /// Whether an answer is to be passed on: `receiver` has an offer out that it is the answer to.
    mutating func answer(from sender: MemberID, to receiver: MemberID) -> Bool {
        remove(from: receiver, to: sender)
    }

    /// The member is no more in the mesh.
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
