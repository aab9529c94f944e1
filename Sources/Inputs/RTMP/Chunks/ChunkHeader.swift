import ByteCoding

/// The header of a chunk stream's last message, of which the next chunks have only what is different (RTMP section
/// 5.3.1).
///
///     0   1 2 3   4 5 6    7     8 ... 11
///     +---+-------+-------+------+--------+-----------------------+---------+
///     |f i| time  |length | type | stream | time, if it was FFFFFF| payload |
///     +---+-------+-------+------+--------+-----------------------+---------+
///
/// A chunk begins with its form f in two bits and its chunk stream i in 6, 14 or 22. Form 0 has all of these fields,
/// form 1 all except the message stream, form 2 only the time, form 3 none. The time is the message's in form 0, and
/// the difference to the last message's in forms 1 and 2.
struct ChunkHeader: Sendable {
    /// The chunk stream.
    let id: UInt32
    /// The message's time in milliseconds, modulo 2^32.
    private(set) var timestamp: UInt32 = 0
    /// The payload's length in bytes.
    private(set) var length = 0
    /// The message type.
    private(set) var type: UInt8 = 0
    /// The message stream.
    private(set) var stream: UInt32 = 0

    /// What a message of form 3 adds to the time. After form 0, this is the time itself (section 5.3.1.2.4).
    private var delta: UInt32 = 0
    /// The time after the other fields, if the last header had it there.
    private var extended: UInt32?

    init(id: UInt32) {
        self.id = id
    }

    /// Reads a chunk's form and its chunk stream. Nil if they have not arrived completely.
    static func begin(_ reader: inout ByteReader) -> (form: UInt8, id: UInt32)? {
        guard let first = reader.uint8() else { return nil }
        let form = first >> 6
        switch first & 0x3F {
        case 0: return reader.uint8().map { (form, 64 + UInt32($0)) }
        case 1: return reader.uint16LittleEndian().map { (form, 64 + UInt32($0)) }
        case let id: return (form, UInt32(id))
        }
    }

    /// Reads what a chunk of `form` has of the header. Returns false if it has not arrived completely; this value is
    /// then of no use.
    ///
    /// - Parameter beginsMessage: whether the chunk is the first one of a message.
    /// - Throws: ``RTMPError`` if the message is longer than its limit.
    mutating func read(
        form: UInt8, beginsMessage: Bool, _ reader: inout ByteReader
    ) throws(RTMPError) -> Bool {
        guard form < 3 else { return repeatLast(beginsMessage: beginsMessage, &reader) }
        guard let field = reader.uint24() else { return false }
        if form < 2 {
            guard let length = reader.uint24(), let type = reader.uint8() else { return false }
            self.length = Int(length)
            self.type = type
        }
        if form == 0 {
            guard let stream = reader.uint32LittleEndian() else { return false }
            self.stream = stream
        }
        extended = nil
        if field == 0xFF_FFFF {
            guard let time = reader.uint32() else { return false }
            extended = time
        }
        delta = extended ?? field
        timestamp = form == 0 ? delta : timestamp &+ delta
        let limit = RTMPMessage.limit(of: type)
        guard length <= limit else {
            throw .tooLarge("a message of type \(type) with \(length) bytes; it may have \(limit)")
        }
        return true
    }

    /// Reads the header of a chunk of form 3. It repeats an extended time, but some senders leave that out.
    private mutating func repeatLast(beginsMessage: Bool, _ reader: inout ByteReader) -> Bool {
        if let extended {
            var ahead = reader
            guard let time = ahead.uint32() else { return false }
            if time == extended { reader = ahead }
        }
        if beginsMessage { timestamp &+= delta }
        return true
    }
}
