/// The server's side of the simple handshake (RTMP section 5.2). The first byte of each side is the version; then each
/// side sends a block of its own, and repeats the other side's block.
///
///     client  C0 version | C1 1536 bytes                       C2 1536 bytes, S1 repeated
///     server                             S0 | S1 | S2, C1 repeated
///
/// OBS, FFmpeg, GStreamer and phone apps publish with it. The handshake with a digest proves to a player that the
/// server is licensed; a server that names no version in S1 isn't asked for it.
struct RTMPHandshake: Sendable {
    static let version: UInt8 = 3
    static let blockSize = 1536

    /// What has arrived: C0, C1 and C2, and perhaps what follows.
    private var kept: [UInt8] = []
    private var hasAnswered = false

    /// Whether C2 has arrived.
    private(set) var isDone = false
    /// What has arrived after C2.
    var rest: ArraySlice<UInt8> { kept.dropFirst(1 + 2 * Self.blockSize) }

    mutating func append(_ bytes: ArraySlice<UInt8>) { kept.append(contentsOf: bytes) }

    /// The answer that is due; nil if there is none now.
    ///
    /// - Throws: ``RTMPError/wrongVersion(_:)``.
    mutating func next() throws(RTMPError) -> [UInt8]? {
        if let first = kept.first, first != Self.version { throw .wrongVersion(first) }
        guard hasAnswered else {
            guard kept.count > Self.blockSize else { return nil }
            hasAnswered = true
            // The time and the version are zero. Any bytes that aren't the client's may follow.
            let own = [UInt8](repeating: 0, count: 8) + (8..<Self.blockSize).map { UInt8(truncatingIfNeeded: $0) }
            return [Self.version] + own + kept[1...Self.blockSize]
        }
        // C2 repeats S1. Whether it does so correctly doesn't matter.
        isDone = kept.count > 2 * Self.blockSize
        return nil
    }
}
