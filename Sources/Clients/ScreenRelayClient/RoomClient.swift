public import MediaTypes
import Rooms
import Signalling
import WebRTCPushing

/// A client of a room: reads its tracks, and publishes others into it.
///
/// It joins with ``join()``, and reconnects by itself when it loses the room. It leaves with ``leave()``, or when the
/// task that reads its events is cancelled; then its readers and publications end. It also leaves when it is released.
/// Its events, tracks, readers and publications keep it. Methods may be called on any thread.
public final class RoomClient: Sendable {
    /// What others in the room learn of the client, and how it reaches the host.
    public struct Settings: Sendable {
        /// The name that others see, of at most 64 characters; nil for none.
        public var name: String?
        /// TURN servers for networks in which neither UDP nor TCP reaches the host's media port, instead of those that
        /// the host names: `turn:USER:PASSWORD@HOST[:PORT]`, which is used over TCP, or `turns:` for TLS. USER and
        /// PASSWORD are in percent-encoding where they have `:`, `@`, `?` or `%`.
        public var iceServers: [String] = []

        /// Settings that tell nothing, and use the servers that the host names.
        public init() {}
    }

    let engine: RoomEngine

    /// Makes a client of a room, which connects to nothing yet.
    ///
    /// - Parameters:
    ///   - link: the room's invite link, `http://HOST:PORT/#ROOM,TOKEN`, also with a password after the token; or the
    ///     address of a WHEP endpoint, `https://TOKEN@HOST/PATH`, which has one track, and takes none. To publish,
    ///     TOKEN must be the presenters' token.
    ///   - settings: what others learn of the client, and how it reaches the host.
    /// - Throws: ``RoomClientError/badLink(_:)`` if the link can't be read, or ``RoomClientError/badICEServer`` if one
    ///   of the servers can't be used.
    public init(_ link: String, settings: Settings = Settings()) throws(RoomClientError) {
        var servers: [ICEServer] = []
        for text in settings.iceServers {
            guard let server = ICEServer(text), server.isReachableByStream, server.isComplete else {
                throw .badICEServer
            }
            servers.append(server)
        }
        engine = RoomEngine(try RoomPlace(link), name: settings.name, servers: NamedServers(chosen: servers))
    }

    deinit { engine.leave() }

    /// Begins to join the room, and returns the events from here on. May be called once.
    ///
    /// - Throws: ``RoomClientError/joinedBefore``, or ``RoomClientError/system(_:)`` if the process has no thread left.
    public func join() throws(RoomClientError) -> RoomEvents {
        try engine.start()
        return RoomEvents(room: self)
    }

    /// The tracks that the room has now, in the order in which they came; those that it had when it was last connected
    /// while it reconnects.
    public var tracks: [RoomTrack] { engine.trackNames.map { RoomTrack(name: $0, room: self) } }

    /// Publishes pictures into the room, as the track of that name. It begins once the room is joined, and begins again
    /// after a lost connection.
    ///
    /// - Parameters:
    ///   - track: a name that no track of another source has: 1 to 64 letters, digits, `-`, `_` and `.`.
    ///   - picturesPerSecond: how many are written per second, 1...240. If more are written, the bit rate is too high.
    ///   - highestBitRate: the rate that is not exceeded even if the path to the host carries more.
    /// - Throws: ``RoomClientError/badTrackName``, ``RoomClientError/noRoom`` or ``RoomClientError/system(_:)``.
    public func publish(
        _ track: String, picturesPerSecond: Int, highestBitRate: BitRate = BitRate(bitsPerSecond: 8_000_000)
    ) throws(RoomClientError) -> RoomPublication {
        try check(track)
        return try add(
            track, PublicationSource(picturesPerSecond: picturesPerSecond, highestBitRate: highestBitRate))
    }

    /// Publishes the application's own frames into the room, as ``publish(_:picturesPerSecond:highestBitRate:)`` does
    /// pictures.
    ///
    /// - Parameters:
    ///   - track: a name that no track of another source has: 1 to 64 letters, digits, `-`, `_` and `.`.
    ///   - keyFrameWanted: called when the next frame must be a key frame, at most once in 500 ms.
    ///   - targetBitRateChanged: called with the bit rate that the path to the host carries.
    ///
    /// The closures are called on any thread, and must not block.
    ///
    /// - Throws: ``RoomClientError/badTrackName`` or ``RoomClientError/noRoom``.
    public func publish(
        _ track: String, keyFrameWanted: @escaping @Sendable () -> Void,
        targetBitRateChanged: @escaping @Sendable (BitRate) -> Void = { _ in }
    ) throws(RoomClientError) -> RoomPublication {
        try check(track)
        return try add(
            track, PublicationSource(keyFrameWanted: keyFrameWanted, targetBitRateChanged: targetBitRateChanged))
    }

    /// Before a source is made, which lives until it is ended.
    private func check(_ track: String) throws(RoomClientError) {
        guard TrackName(track) != nil else { throw .badTrackName }
    }

    private func add(_ track: String, _ source: PublicationSource) throws(RoomClientError) -> RoomPublication {
        RoomPublication(try engine.publish(track, source), self)
    }

    /// Leaves the room, and waits until the host knows of it, for a few seconds at most.
    public func leave() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            engine.leave { continuation.resume() }
        }
    }
}

/// Why a client can't do what it is asked for. One line.
public enum RoomClientError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The link is neither an invite link nor the address of a WHEP endpoint; the text has no secrets.
    case badLink(String)
    /// One of ``RoomClient/Settings/iceServers`` isn't a TURN server over TCP or TLS with a user name and a password.
    case badICEServer
    /// The client joins its room already, or has left it.
    case joinedBefore
    /// A track's name has 1 to 64 letters, digits, `-`, `_` and `.`.
    case badTrackName
    /// At the address of a WHEP endpoint, nothing can be published, nor in a room that was left.
    case noRoom
    /// The process has no thread or descriptor left.
    case system(String)

    public var description: String {
        switch self {
        case .badLink(let reason): reason
        case .badICEServer: "an ICE server must be written like turn:USER:PASSWORD@HOST or turns:USER:PASSWORD@HOST"
        case .joinedBefore: "the client has joined its room before"
        case .badTrackName: "a track's name has 1 to 64 letters, digits, -, _ and ."
        case .noRoom: "there is no room to publish into"
        case .system(let reason): reason
        }
    }
}
