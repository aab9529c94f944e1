/// An error in data that a client sent.
public enum SocketIORoomsError: Error, Sendable, Equatable, CustomStringConvertible {
    case tooLarge(bytes: Int, limit: Int)
    case tooManyPackets(limit: Int)
    /// From this byte on, the data is not a payload of the given Engine.IO version.
    case malformedPayload(offset: Int)

    public var description: String {
        switch self {
        case .tooLarge(let bytes, let limit): "a payload has \(bytes) bytes, more than \(limit)"
        case .tooManyPackets(let limit): "a payload has more than \(limit) packets"
        case .malformedPayload(let offset): "byte \(offset) of a payload doesn't fit Engine.IO"
        }
    }
}
