import MediaSessions
import MediaTypes
import Signalling
import Synchronization
import TestSupport

/// A media side that notes what it is asked and answers what the test told it to.
final class FakeMedia: RoomMedia, SessionServer {
    struct State {
        var offers: [String] = []
        var closed: [MediaSessionID] = []
        var fragments: [String] = []
        var restarts: [String] = []
        /// What peers have asked for: which session's pictures are held back, and for how long.
        var holds: [MediaSessionID: Interval] = [:]
        var refusal: MediaSessionError?
        var isSteady = false
        var changeAge: Interval?
        var picture: Result<[UInt8], SnapshotError> = .failure(.noPicture)
        /// Whether snapshots wait until the test answers them.
        var holdsSnapshots = false
        var isWanted: [@Sendable () -> Bool] = []
        var waiting: [@Sendable (Result<[UInt8], SnapshotError>) -> Void] = []
        var statistics: [MediaSessionID: PeerStatistics] = [:]
        var ends: [MediaSessionID: @Sendable (String) -> Void] = [:]
        /// Where the pictures of sessions go that send them whole, by their numbers.
        var sinks: [UInt64: @Sendable (WholePicture) -> Void] = [:]
        /// Where their sound goes, and what viewers have said of it: whether they want it.
        var soundSinks: [UInt64: @Sendable (WholeAudio) -> Void] = [:]
        var wantsSound: [Bool] = []
        /// What viewers of these have confirmed, without the beginning, and how often they asked for a key picture.
        var confirmed: [UInt32] = []
        var keyPictureRequests = 0
        /// The sessions whose beginning has reached the viewer.
        var reached: [MediaSessionID] = []
        /// What the sharer's screen was to show.
        var points: [ViewerPoint?] = []
    }

    let state = Mutex(State())
    var sessions: any SessionServer { self }
    var isSteady: Bool { state.withLock { $0.isSteady } }
    var changeAge: Interval? { state.withLock { $0.changeAge } }

    static let answer = "v=0\r\ns=answer\r\n"
    static let fragment = "a=ice-ufrag:fresh\r\n"

    func open(
        offer sdp: String, from client: String, onEnd: @escaping @Sendable (String) -> Void
    ) throws(MediaSessionError) -> OpenedSession {
        let result = state.withLock { state -> Result<OpenedSession, MediaSessionError> in
            if let refusal = state.refusal { return .failure(refusal) }
            state.offers.append(sdp)
            let id = MediaSessionID(rawValue: UInt64(state.offers.count))
            state.ends[id] = onEnd
            return .success(OpenedSession(id: id, answer: Self.answer, entityTag: "tag\(id.rawValue)"))
        }
        return try result.get()
    }

    func openFrames(
        for client: String, sink: @escaping @Sendable (WholePicture) -> Void,
        soundSink: @escaping @Sendable (WholeAudio) -> Void,
        onEnd: @escaping @Sendable (String) -> Void
    ) throws(MediaSessionError) -> MediaSessionID {
        let result = state.withLock { state -> Result<MediaSessionID, MediaSessionError> in
            if let refusal = state.refusal { return .failure(refusal) }
            let id = MediaSessionID(rawValue: UInt64(state.sinks.count) + 1001)
            state.sinks[id.rawValue] = sink
            state.soundSinks[id.rawValue] = soundSink
            state.ends[id] = onEnd
            return .success(id)
        }
        return try result.get()
    }

    func confirmPictures(of session: MediaSessionID, through number: UInt32) {
        state.withLock { state in
            if number == 0 { state.reached.append(session) } else { state.confirmed.append(number) }
        }
    }

    func setAudioEnabled(_ isOn: Bool, for session: MediaSessionID) {
        state.withLock { $0.wantsSound.append(isOn) }
    }

    func requestKeyPicture(for session: MediaSessionID) {
        state.withLock { $0.keyPictureRequests += 1 }
    }

    func restartICE(_ session: MediaSessionID, fragment: String) throws(MediaSessionError) -> RestartedSession {
        let result = state.withLock { state -> Result<RestartedSession, MediaSessionError> in
            if let refusal = state.refusal { return .failure(refusal) }
            state.restarts.append(fragment)
            return .success(
                RestartedSession(fragment: Self.fragment, entityTag: "tag\(session.rawValue).\(state.restarts.count)"))
        }
        return try result.get()
    }

    func close(_ session: MediaSessionID) {
        state.withLock { $0.closed.append(session) }
    }

    func remoteCandidates(_ session: MediaSessionID, fragment: String) {
        state.withLock { $0.fragments.append(fragment) }
    }

    func setPlayoutDelay(of session: MediaSessionID, to delay: Interval) {
        state.withLock { $0.holds[session] = delay }
    }

    func snapshot(
        _ format: SnapshotFormat, isWanted: @escaping @Sendable () -> Bool,
        completion: @escaping @Sendable (Result<SnapshotFile, SnapshotError>) -> Void
    ) {
        let picture = state.withLock { state -> Result<[UInt8], SnapshotError>? in
            guard state.holdsSnapshots else { return state.picture }
            state.isWanted.append(isWanted)
            state.waiting.append { picture in completion(picture.map { SnapshotFile($0) }) }
            return nil
        }
        if let picture { completion(picture.map { SnapshotFile($0) }) }
    }

    func statistics(of session: MediaSessionID) -> PeerStatistics? { state.withLock { $0.statistics[session] } }

    func showPoint(_ point: ViewerPoint?) { state.withLock { $0.points.append(point) } }

    /// Ends a session as if its viewer had gone silent.
    func end(_ session: UInt64, _ reason: String) {
        let end = state.withLock { $0.ends[MediaSessionID(rawValue: session)] }
        end?(reason)
    }
}

/// The media sides of the tests need do only what their tests ask of them.
extension RoomMedia {
    func offer(onEnd: @escaping @Sendable (String) -> Void) throws(MediaSessionError) -> OfferedSession {
        throw .unsupported("this host makes no offers")
    }
    func openFrames(
        for client: String, sink: @escaping @Sendable (WholePicture) -> Void,
        soundSink: @escaping @Sendable (WholeAudio) -> Void,
        onEnd: @escaping @Sendable (String) -> Void
    ) throws(MediaSessionError) -> MediaSessionID {
        throw .unsupported("this host sends no whole pictures")
    }
    func setPointerDrawn(_ isDrawn: Bool) {}
    func showPoint(_ point: ViewerPoint?) {}
    var isSteady: Bool { false }
    var changeAge: Interval? { nil }
}

extension SessionServer {
    func accept(answer: String, for session: MediaSessionID) throws(MediaSessionError) {
        throw .unsupported("this host has made no offer")
    }
    func restartICE(_ session: MediaSessionID, fragment: String) throws(MediaSessionError) -> RestartedSession {
        throw .unsupported("this host doesn't restart ICE")
    }
    func setPlayoutDelay(of session: MediaSessionID, to delay: Interval) {}
    func watchPointer(_ session: MediaSessionID, onChange: @escaping @Sendable (PointerChange) -> Void) {}
    func confirmPictures(of session: MediaSessionID, through number: UInt32) {}
    func setAudioEnabled(_ isOn: Bool, for session: MediaSessionID) {}
    func requestKeyPicture(for session: MediaSessionID) {}
    func statistics(of session: MediaSessionID) -> PeerStatistics? { nil }
}

/// A server on a port of its own with one room "desk", whose token is "secret".
struct RunningServer: ~Copyable {
    let server: SignallingServer
    let media = FakeMedia()
    let port: UInt16
    let log = Log()

    final class Log: Sendable {
        let lines = Mutex<[String]>([])
    }

    /// `other` serves the first room in place of `media`.
    init(
        token: String? = "secret", media other: (any RoomMedia)? = nil,
        _ change: (inout SignallingConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = SignallingConfiguration(
            listen: [ListenAddress(address: "127.0.0.1", port: 0)],
            rooms: [RoomConfiguration(name: "desk", token: token)])
        configuration.log = { [log] line in log.lines.withLock { $0.append(line) } }
        change(&configuration)
        server = SignallingServer(configuration)
        server.addTrack("screen", media: other ?? media, room: configuration.rooms.first?.name ?? "")
        try server.start()
        port = server.addresses.first?.port ?? 0
    }

    deinit {
        server.stop()
    }

    /// Gives the room a second track, "desk2".
    func addSecondTrack() throws -> FakeMedia {
        let media = FakeMedia()
        server.addTrack("desk2", media: media, room: "desk")
        try server.waitUntilTaken()
        return media
    }

    /// One request over a connection of its own.
    func request(
        _ method: String, _ path: String, host: String = "127.0.0.1", _ headers: [String: String] = [:],
        body: String? = nil
    ) throws -> RawResponse {
        try TestSocket(port: port).request(method, path, host: host, headers, body: body)
    }
}

extension SignallingServer {
    /// Waits until all that other threads have told so far is known: it may be behind what comes over a socket.
    func waitUntilTaken() throws {
        let isTaken = Flag()
        ping { isTaken.value.withLock { $0 = true } }
        try eventually("what was told to be taken", holds: { isTaken.value.withLock { $0 } })
    }
}

private final class Flag: Sendable {
    let value = Mutex(false)
}
