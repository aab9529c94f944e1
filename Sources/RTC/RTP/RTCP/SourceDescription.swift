/// A source description, which names sources (RFC 3550 section 6.5): the canonical name of one, which ties a peer's
/// streams together. Those that peers send are not read.
///
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |V=2|P|  SC=1   |  PT=SDES=202  |             length            |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |                             SSRC                              |
///     |    CNAME=1    |     length    | name ...                  | 0 |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
public struct SourceDescription: Sendable {
    /// The SSRC of the source.
    public var ssrc: SSRC
    /// The name.
    public var canonicalName: String

    /// The description of one source.
    public init(ssrc: SSRC, canonicalName: String) {
        self.ssrc = ssrc
        self.canonicalName = canonicalName
    }

    /// Appends the description; a name is cut to 255 bytes.
    public func write(into buffer: inout [UInt8]) {
        buffer.appendRTCP(type: 202, count: 1) { buffer in
            let name = canonicalName.utf8.prefix(255)
            buffer.appendUInt32(ssrc.rawValue)
            buffer.append(1)
            buffer.append(UInt8(truncatingIfNeeded: name.count))
            buffer.append(contentsOf: name)
            // The end of the list of items.
            buffer.append(0)
        }
    }
}
