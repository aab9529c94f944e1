/// Members in the order of their numbers, which are drawn as they come: who came first stands first.
///
/// Adding costs nothing, removing a search and a move, however many there are.
struct Arrivals: Sendable {
    private var entries: [(number: UInt64, member: MemberID)] = []

    var count: Int { entries.count }
    var members: some Sequence<MemberID> { entries.lazy.map(\.member) }

    /// Adds a member whose number is above all others'.
    mutating func append(_ member: MemberID, number: UInt64) {
        entries.append((number, member))
    }

    /// Removes the member of that number; one that isn't there is ignored.
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
