import MediaSessions

/// Tells the owner of a media session, on the site's thread, that the media layer has ended it.
final class SessionEnds {
    private let post: Post<SessionEnds>
    private var endings: [UInt64: (_ reason: String) -> Void] = [:]
    private var lastKey: UInt64 = 0

    init(post: @escaping Post<SessionEnds>) {
        self.post = post
    }

    /// Opens a session with `open`, whose argument is the callback that the media layer must call when the session
    /// ends. This leads to a call of `onEnd`, unless `forget` is called before.
    func expect<Opened, Refusal: Error>(
        _ onEnd: @escaping (_ reason: String) -> Void,
        of open: (_ onEnd: @escaping @Sendable (_ reason: String) -> Void) throws(Refusal) -> Opened
    ) throws(Refusal) -> (opened: Opened, key: UInt64) {
        lastKey += 1
        let key = lastKey
        let opened = try open { [post] reason in post { $0.ended(key, reason) } }
        endings[key] = onEnd
        return (opened, key)
    }

    /// Has the media layer of a track open a session for `offer`, which came from the address `client`.
    func open(
        _ offer: String, from client: String, at media: any RoomMedia, onEnd: @escaping (_ reason: String) -> Void
    ) throws(MediaSessionError) -> (opened: OpenedSession, session: ClientSession) {
        let (opened, key) = try expect(onEnd) { (onEnd) throws(MediaSessionError) in
            try media.open(offer: offer, from: client, onEnd: onEnd)
        }
        return (opened, ClientSession(id: opened.id, key: key, side: media.sessions))
    }

    /// Prevents the session's `onEnd` from being called.
    func forget(_ key: UInt64) {
        endings[key] = nil
    }

    /// Ends a session from the server's side.
    func close(_ session: ClientSession) {
        forget(session.key)
        session.side.close(session.id)
    }

    private func ended(_ key: UInt64, _ reason: String) {
        endings.removeValue(forKey: key)?(reason)
    }
}
