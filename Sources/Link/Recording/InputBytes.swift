/// The bytes of a file that were read but not yet used. They stay in the pieces in which they were read, to avoid
/// copying.
struct InputBytes: Sendable {
    /// The file offset of the next byte.
    private(set) var offset: UInt64
    private var front: ArraySlice<UInt8> = []
    private var later: [ArraySlice<UInt8>] = []

    init(offset: UInt64) {
        self.offset = offset
    }

    var isEmpty: Bool { front.isEmpty }
    /// The number of bytes left.
    var count: Int { later.reduce(front.count) { $0 + $1.count } }
    /// The rest of the first piece, which can be accessed without copying. Empty only if no bytes are left.
    var piece: ArraySlice<UInt8> { front }

    mutating func push(_ bytes: ArraySlice<UInt8>) {
        guard !bytes.isEmpty else { return }
        if front.isEmpty { front = bytes } else { later.append(bytes) }
    }

    /// Puts back the bytes that were taken last.
    mutating func putBack(_ bytes: ArraySlice<UInt8>) {
        guard !bytes.isEmpty else { return }
        offset &-= UInt64(bytes.count)
        if !front.isEmpty { later.insert(front, at: 0) }
        front = bytes
    }

    /// Drops `count` bytes of `piece`.
    mutating func drop(_ count: Int) {
        let dropped = min(max(0, count), front.count)
        offset &+= UInt64(dropped)
        front = front.dropFirst(dropped)
        // An empty slice would still keep the whole array alive, so its owner could not refill it in place.
        if front.isEmpty { front = later.isEmpty ? [] : later.removeFirst() }
    }

    /// Moves bytes to the end of `target` until it has `count` bytes. Returns whether it has.
    mutating func fill(_ target: inout [UInt8], to count: Int) -> Bool {
        while target.count < count, !front.isEmpty {
            let taken = front.prefix(count - target.count)
            target.append(contentsOf: taken)
            drop(taken.count)
        }
        return target.count >= count
    }
}
