/// Why a client's bytes can't be read. Its connection can't continue.
public enum RTMPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The first byte isn't the version of RTMP.
    case wrongVersion(UInt8)
    /// A length or a number exceeds its limit.
    case tooLarge(String)
    /// The bytes break a rule of the protocol.
    case malformed(String)

    public var description: String {
        switch self {
        case .wrongVersion(0x16): "the client speaks TLS; use an rtmp:// URL"
        case .wrongVersion(let version): "the first byte is \(version), not 3, the version of RTMP"
        case .tooLarge(let what): what
        case .malformed(let what): what
        }
    }
}
