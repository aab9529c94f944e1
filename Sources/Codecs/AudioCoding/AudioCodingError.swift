import COpus

/// Why sound could not be encoded or decoded.
public enum AudioCodingError: Error, Equatable, CustomStringConvertible {
    /// A function of the library has failed, for the reason that the library gives.
    case failed(call: String, reason: String)
    /// A packet's sound has another length than 20 ms.
    case wrongSampleCount(found: Int, expected: Int)
    /// The sound, or a packet of it, exceeds a limit; `reason` names it with the limit.
    case unusable(reason: String)

    public var description: String {
        switch self {
        case .failed(let call, let reason): "\(call) failed: \(reason)"
        case .wrongSampleCount(let found, let expected):
            "a packet has \(expected) samples, but \(found) were given"
        case .unusable(let reason): reason
        }
    }

    /// The failure of `call` with an error code of libopus.
    init(_ call: String, code: Int32) {
        self = .failed(call: call, reason: opus_strerror(code).map { String(cString: $0) } ?? "error \(code)")
    }
}
