/// Splits what a Wayland compositor sends into events. The byte order is the machine's.
///
///      0            4                8
///     +------------+----------------+-----------------------
///     | object u32 | event and size | arguments, 32 bits each
///     +------------+----------------+-----------------------
///
/// The lower half of the second word is the event's number, and the upper half the size of the whole event in bytes.
/// A string is its length with the final 0, and bytes up to a multiple of 4.
struct CompositorMessages {
    /// An event of one of the client's objects.
    struct Event: Equatable {
        var object: UInt32
        var number: UInt32
        var arguments: [UInt32]
    }

    /// Whether what was sent can't be an event. Nothing after that is read.
    private(set) var isBroken = false
    private var bytes: [UInt8] = []

    private static let headerBytes = 8

    /// Appends what has arrived. What `next` leaves is shorter than an event, which has at most 64 KiB.
    mutating func append(_ received: some Sequence<UInt8>) { bytes += received }

    /// Returns the next event; nil if it hasn't arrived as a whole.
    mutating func next() -> Event? {
        guard !isBroken, bytes.count >= Self.headerBytes else { return nil }
        let header = Self.words(in: bytes.prefix(Self.headerBytes))
        let size = Int(header[1] >> 16)
        guard size >= Self.headerBytes, size % 4 == 0 else {
            isBroken = true
            return nil
        }
        guard bytes.count >= size else { return nil }
        let arguments = Self.words(in: bytes[Self.headerBytes..<size])
        bytes.removeFirst(size)
        return Event(object: header[0], number: header[1] & 0xFFFF, arguments: arguments)
    }

    /// Returns the bytes of a request.
    static func request(_ object: UInt32, _ number: UInt32, _ arguments: [UInt32]) -> [UInt8] {
        let size = UInt32(headerBytes + arguments.count * 4)
        return ([object, size << 16 | number] + arguments).flatMap { word in
            withUnsafeBytes(of: word) { Array($0) }
        }
    }

    /// Returns the arguments that are a string.
    static func string(_ text: String) -> [UInt32] {
        let characters = Array(text.utf8) + [0]
        let padding = [UInt8](repeating: 0, count: -characters.count & 3)
        return [UInt32(characters.count)] + words(in: characters + padding)
    }

    private static func words(in bytes: some Sequence<UInt8>) -> [UInt32] {
        Array(bytes).withUnsafeBytes { memory in (0..<memory.count / 4).compactMap { memory.word(at: $0 * 4) } }
    }
}
