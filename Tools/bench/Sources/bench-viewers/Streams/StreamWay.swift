import PictureTimeline

/// How video comes over TCP.
enum StreamWay: String, CaseIterable, Sendable {
    case rtsp, websocket

    /// Reads an address of this way; nil if it isn't one. For RTSP, the token is `USER:PASSWORD`.
    func address(_ text: String) -> WHEPAddress? {
        switch self {
        case .websocket: return WHEPAddress(text, token: nil)
        case .rtsp:
            let scheme = "rtsp://"
            guard text.hasPrefix(scheme) else { return nil }
            let authority = text.dropFirst(scheme.count).prefix { $0 != "/" }
            let path = text.dropFirst(scheme.count + authority.count)
            let parts = authority.split(separator: "@", maxSplits: 1)
            guard let place = parts.last else { return nil }
            let hasPort = place.contains(":") && place.last != "]"
            return WHEPAddress(
                "http://\(place)\(hasPort ? "" : ":554")\(path)", token: parts.count == 2 ? String(parts[0]) : nil)
        }
    }

    /// Opens a connection and asks for the video. Blocks the calling thread.
    ///
    /// - Throws: ``BenchFailure`` that says which step failed.
    func join(_ address: WHEPAddress) throws(BenchFailure) -> StreamConnection {
        switch self {
        case .rtsp: try RTSPJoining.join(address)
        case .websocket: try WebSocketJoining.join(address)
        }
    }

    /// A viewer that has not joined yet.
    func viewer(_ table: PictureTable) -> StreamViewer {
        switch self {
        case .rtsp: RTSPPlayer(table)
        case .websocket: WebSocketViewer(table)
        }
    }
}
