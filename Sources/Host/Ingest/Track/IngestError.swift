/// Why a track could not start.
public enum IngestError: Error, Sendable, CustomStringConvertible {
    /// The system refused a thread or a descriptor.
    case system(String)
    /// The link could not be opened.
    case link(String)

    public var description: String {
        switch self {
        case .system(let what): what
        case .link(let what): what
        }
    }
}
