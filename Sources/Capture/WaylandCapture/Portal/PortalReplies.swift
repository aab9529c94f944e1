import MediaTypes
import SessionBus

/// The properties of the portal, and the choice that they allow.
struct PortalProperties: Equatable {
    /// The version that added restore tokens.
    static let lowestVersion: UInt32 = 4

    /// The sources that may be asked for.
    var sources: PortalSourceTypes
    /// The best way to show the pointer; nil if the portal names none.
    var cursorMode: PortalCursorMode?

    /// Reads the answer to `GetAll`, and checks that the portal can share one of the `wanted` sources.
    ///
    /// - Parameter embedsPointer: whether the pointer is to be drawn into the pictures, if the portal can have it so.
    /// - Throws: ``PortalError`` if it can't.
    init(
        _ answer: [BusValue], wanted: PortalSourceTypes, embedsPointer: Bool = false
    ) throws(PortalError) {
        guard let properties = answer.first?.entries, let version = properties["version"]?.number else {
            throw .malformed("version")
        }
        guard version >= Self.lowestVersion else { throw .versionTooLow(version) }
        let available = PortalSourceTypes(rawValue: properties["AvailableSourceTypes"]?.number ?? 0)
        if available.isEmpty { throw .noBackend }
        sources = wanted.intersection(available)
        if sources.isEmpty { throw .noSuchSource(wanted, available: available) }
        cursorMode = PortalCursorMode.best(
            of: properties["AvailableCursorModes"]?.number ?? 0, metadataIsLast: embedsPointer)
    }
}

/// Reads the answers to a session's requests. They come from the desktop, and nothing in them is relied on.
enum PortalReplies {
    /// PipeWire's identifier for no node.
    private static let noNode = UInt32.max

    /// The results in the signal `Response`.
    ///
    /// - Throws: ``PortalError`` if the user has declined, if the request failed, or if the signal has no results.
    static func results(_ signal: [BusValue]) throws(PortalError) -> [String: BusValue] {
        guard let code = signal.first?.number else { throw .malformed("response") }
        switch code {
        case 0: break
        case 1: throw .cancelled
        default: throw .refused
        }
        guard let results = signal.dropFirst().first?.entries else { throw .malformed("results") }
        return results
    }

    /// The path of the session that was created. It is documented as a path, and is a string.
    ///
    /// - Throws: `malformed` if there is none.
    static func session(_ results: [String: BusValue]) throws(PortalError) -> String {
        guard let path = results["session_handle"]?.text, path.hasPrefix("/") else {
            throw .malformed("session_handle")
        }
        return path
    }

    /// The streams of the session that was started, at least one.
    ///
    /// - Throws: `malformed` if there is none, or if one has no node.
    static func streams(_ results: [String: BusValue]) throws(PortalError) -> [PortalStream] {
        guard case .array(let elements)? = results["streams"], !elements.isEmpty else { throw .malformed("streams") }
        var streams: [PortalStream] = []
        for element in elements {
            guard case .structure(let parts) = element, let node = parts.first?.number, node != noNode else {
                throw .malformed("streams")
            }
            streams.append(stream(node, parts.dropFirst().first?.entries ?? [:]))
        }
        return streams
    }

    /// The token that restores the session; nil if there is none.
    static func restoreToken(_ results: [String: BusValue]) -> String? {
        results["restore_token"]?.text.flatMap { RestoreTokens.isToken($0) ? $0 : nil }
    }

    private static func stream(_ node: UInt32, _ properties: [String: BusValue]) -> PortalStream {
        var stream = PortalStream(node: node)
        if let (width, height) = properties["size"]?.pair, width > 0, height > 0 {
            stream.size = PictureSize(width: width, height: height)
        }
        if let (x, y) = properties["position"]?.pair { stream.position = PortalStream.Position(x: x, y: y) }
        stream.sourceType = properties["source_type"]?.number.map { PortalSourceTypes(rawValue: $0) }
        stream.mappingID = properties["mapping_id"]?.text
        return stream
    }
}
