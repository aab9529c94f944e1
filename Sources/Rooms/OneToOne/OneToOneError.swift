/// What was wrong with what a client sent.
public enum OneToOneError: Error, Sendable, Equatable, CustomStringConvertible {
    case tooLarge(bytes: Int, limit: Int)
    case tooManyPackets(limit: Int)
    /// Not a payload of this version of Engine.IO, from that byte on.
    case malformedPayload(offset: Int)

    public var description: String {
        switch self {
        case .tooLarge(let bytes, let limit): "a payload has \(bytes) bytes, more than \(limit)"
        case .tooManyPackets(let limit): "a payload has more than \(limit) packets"
        case .malformedPayload(let offset): "byte \(offset) of a payload doesn't fit Engine.IO"
        }
    }
}
