/// Members in the order in which they arrived. Each has a number, and numbers ascend.
///
/// Adding a member takes constant time. Removing one takes a binary search and a move of the entries behind it.
struct Arrivals: Sendable {
    private var entries: [(number: UInt64, member: MemberID)] = []

    var count: Int { entries.count }
    var members: some Sequence<MemberID> { entries.lazy.map(\.member) }

    /// Adds a member. Its number must be greater than all the others.
    mutating func append(_ member: MemberID, number: UInt64) {
        entries.append((number, member))
    }

    /// Removes the member with that number, if there is one.
    mutating func remove(_ number: UInt64) {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].number < number { low = middle + 1 } else { high = middle }
        }
        if low < entries.count, entries[low].number == number { entries.remove(at: low) }
    }
}
