/// The reason that bytes from a peer are not a valid RTP or RTCP packet.
public enum RTPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// `part` needs `needed` bytes, but only `available` are left.
    case truncated(part: String, needed: Int, available: Int)
    /// The version field isn't 2.
    case wrongVersion(UInt8)
    /// The padding count is zero, or larger than the number of bytes available.
    case invalidPadding(count: Int, available: Int)
    /// A length or count field of `part` exceeds what contains it.
    case invalidLength(part: String, length: Int)

    public var description: String {
        switch self {
        case .truncated(let part, let needed, let available):
            "\(part) needs \(needed) bytes, but the packet has \(available) left"
        case .wrongVersion(let version): "the version is \(version), only RTP version 2 is known"
        case .invalidPadding(let count, let available):
            "the padding count is \(count), but \(available) bytes could be padding"
        case .invalidLength(let part, let length): "\(part) gives a length of \(length), which does not fit"
        }
    }
}
