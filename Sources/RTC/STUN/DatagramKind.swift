/// The protocol that a datagram on a WebRTC port belongs to, judged by its first bytes (RFC 7983, RFC 5761 section 4).
///
///     first byte    0 ..   3   STUN (with the magic cookie in bytes 4 to 7)
///                  20 ..  63   DTLS
///                 128 .. 191   RTP or RTCP: RTCP if the second byte is 192 .. 223
///                       else   nothing that we speak
public enum DatagramKind: Sendable, Equatable {
    case stun
    case dtls
    case rtp
    case rtcp
    case other

    /// Classifies `datagram` by its first bytes. The rest of it may still be malformed.
    public init(of datagram: [UInt8]) { self.init(of: datagram[...]) }

    /// Classifies `datagram` by its first bytes. The rest of it may still be malformed.
    public init(of datagram: ArraySlice<UInt8>) {
        guard let first = datagram.first else {
            self = .other
            return
        }
        switch first {
        case 0...3:
            let isSTUN =
                datagram.count >= STUNMessage.headerLength
                && datagram.dropFirst(4).prefix(4).elementsEqual([0x21, 0x12, 0xa4, 0x42])
            self = isSTUN ? .stun : .other
        case 20...63:
            self = .dtls
        case 128...191:
            switch datagram.dropFirst().first {
            case .some(192...223): self = .rtcp
            case .some: self = .rtp
            case .none: self = .other
            }
        default:
            self = .other
        }
    }
}
