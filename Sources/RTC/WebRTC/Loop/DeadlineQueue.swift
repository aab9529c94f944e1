package import MediaTypes

/// The deadlines of numbered entries, of which the earliest is found at once: a binary heap that knows each entry's
/// position, so that a deadline can be changed in place.
///
/// The numbers are small and reused by the caller: memory is kept for all up to the highest one.
package struct DeadlineQueue {
    private struct Entry {
        var deadline: MonotonicTime
        var number: Int32
    }

    private var heap: [Entry] = []
    /// Each number's index in the heap; -1 for a number that has no deadline.
    private var positions: [Int32] = []

    /// No deadlines.
    package init() {}

    /// The earliest deadline; `distantFuture` if there is none.
    package var earliest: MonotonicTime { heap.first?.deadline ?? .distantFuture }

    /// Removes the entry with the earliest deadline, and returns its number; nil if none is due by `now`.
    package mutating func takeFirst(dueBy now: MonotonicTime) -> Int? {
        guard let first = heap.first, first.deadline <= now else { return nil }
        remove(Int(first.number))
        return Int(first.number)
    }

    /// Sets the deadline of `number`, which may have had another one or none.
    package mutating func set(_ deadline: MonotonicTime, for number: Int) {
        while positions.count <= number { positions.append(-1) }
        let entry = Entry(deadline: deadline, number: Int32(truncatingIfNeeded: number))
        let position = Int(positions[number])
        if position < 0 {
            heap.append(entry)
            moveUp(entry, from: heap.count - 1)
        } else if deadline < heap[position].deadline {
            moveUp(entry, from: position)
        } else if deadline > heap[position].deadline {
            moveDown(entry, from: position)
        }
    }

    /// Removes the deadline of `number`, if it has one.
    package mutating func remove(_ number: Int) {
        guard positions.indices.contains(number), positions[number] >= 0 else { return }
        let position = Int(positions[number])
        positions[number] = -1
        let last = heap.removeLast()
        guard position < heap.count else { return }
        if last.deadline < heap[position].deadline {
            moveUp(last, from: position)
        } else {
            moveDown(last, from: position)
        }
    }

    /// Puts `entry` into the hole at `position`, or nearer to the root.
    private mutating func moveUp(_ entry: Entry, from position: Int) {
        var position = position
        while position > 0 {
            let parent = (position - 1) / 2
            guard entry.deadline < heap[parent].deadline else { break }
            place(heap[parent], at: position)
            position = parent
        }
        place(entry, at: position)
    }

    /// Puts `entry` into the hole at `position`, or farther from the root.
    private mutating func moveDown(_ entry: Entry, from position: Int) {
        var position = position
        while true {
            var child = position * 2 + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].deadline < heap[child].deadline { child += 1 }
            guard heap[child].deadline < entry.deadline else { break }
            place(heap[child], at: position)
            position = child
        }
        place(entry, at: position)
    }

    private mutating func place(_ entry: Entry, at position: Int) {
        heap[position] = entry
        positions[Int(entry.number)] = Int32(truncatingIfNeeded: position)
    }
}
