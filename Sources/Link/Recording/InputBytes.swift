/// The bytes of a file that were read and not yet used, in pieces that are not copied together.
struct InputBytes: Sendable {
    /// Where the next byte stands in the file.
    private(set) var offset: UInt64
    private var front: ArraySlice<UInt8> = []
    private var later: [ArraySlice<UInt8>] = []

    init(offset: UInt64) {
        self.offset = offset
    }

    var isEmpty: Bool { front.isEmpty }
    /// How many bytes are left.
    var count: Int { later.reduce(front.count) { $0 + $1.count } }
    /// The bytes that can be looked at without copying: the rest of the first piece; empty only where nothing is left.
    var piece: ArraySlice<UInt8> { front }

    mutating func push(_ bytes: ArraySlice<UInt8>) {
        guard !bytes.isEmpty else { return }
        if front.isEmpty { front = bytes } else { later.append(bytes) }
    }

    /// Puts bytes back that were taken last, to be taken once more.
    mutating func putBack(_ bytes: ArraySlice<UInt8>) {
        guard !bytes.isEmpty else { return }
        offset &-= UInt64(bytes.count)
        if !front.isEmpty { later.insert(front, at: 0) }
        front = bytes
    }

    /// Lets `count` bytes of `piece` go.
    mutating func drop(_ count: Int) {
        let dropped = min(max(0, count), front.count)
        offset &+= UInt64(dropped)
        front = front.dropFirst(dropped)
        // A piece of nothing would still keep the whole array alive, which its owner could then not fill again in place.
        if front.isEmpty { front = later.isEmpty ? [] : later.removeFirst() }
    }

    /// Moves bytes behind those of `target` until it has `count`; says whether it has.
    mutating func fill(_ target: inout [UInt8], to count: Int) -> Bool {
        while target.count < count, !front.isEmpty {
            let taken = front.prefix(count - target.count)
            target.append(contentsOf: taken)
            drop(taken.count)
        }
        return target.count >= count
    }
}
