/// Takes the bytes of a TCP connection apart into datagrams, each of which has its length in front (RFC 4571 section
/// 2).
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |            length             |  the datagram ...
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///
/// Sans-IO.
package struct StreamFraming: Sendable {
    /// A datagram is longer than any that a peer has reason to send. What follows can't be read either.
    package struct DatagramTooLongError: Error {
        package let length: Int
    }

    /// The length of the longest datagram that is taken, in bytes.
    private let maxLength: Int
    /// The beginning of a datagram whose end hasn't come yet, with its length in front; usually empty.
    private var partial: [UInt8] = []

    /// Framing of datagrams of up to `maxLength` bytes.
    package init(maxLength: Int) {
        self.maxLength = maxLength
    }

    /// The number of bytes that are kept.
    package var keptBytes: Int { partial.count }

    /// Takes the next datagram, which may be empty, from what has been kept and `bytes`. Nil if there is no whole one;
    /// `bytes` is empty then.
    package mutating func next(from bytes: inout ArraySlice<UInt8>) throws(DatagramTooLongError) -> ArraySlice<UInt8>? {
        if partial.isEmpty, let length = try length(of: bytes), bytes.count - 2 >= length {
            defer { bytes = bytes.dropFirst(2 + length) }
            return bytes.dropFirst(2).prefix(length)
        }
        fill(upTo: 2, from: &bytes)
        guard let length = try length(of: partial[...]) else { return nil }
        fill(upTo: 2 + length, from: &bytes)
        guard partial.count == 2 + length else { return nil }
        defer { partial = [] }
        return partial[2...]
    }

    /// The length of the datagram that begins with `bytes`; nil if it has not come yet.
    private func length(of bytes: ArraySlice<UInt8>) throws(DatagramTooLongError) -> Int? {
        guard bytes.count >= 2 else { return nil }
        let length = bytes.prefix(2).reduce(0) { $0 << 8 | Int($1) }
        guard length <= maxLength else { throw DatagramTooLongError(length: length) }
        return length
    }

    private mutating func fill(upTo count: Int, from bytes: inout ArraySlice<UInt8>) {
        let taken = bytes.prefix(max(0, count - partial.count))
        partial.append(contentsOf: taken)
        bytes = bytes.dropFirst(taken.count)
    }
}
