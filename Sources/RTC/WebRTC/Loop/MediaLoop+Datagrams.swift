import Clocks
import MediaTypes
import STUN
import Threading

/// What peers send, over the UDP socket and over TCP connections.
extension MediaLoop {
    /// The maximum number of datagrams received in a row before pictures are handled again, beside those of sessions.
    private static let datagramsAtOnce = 64
    /// How many more for each session. A browser reports up to 20 times per second, so that two datagrams have come
    /// from each while the thread sent pictures for 100 ms. Fewer would leave more in the socket with each picture,
    /// until it has no room for the answers that keep the sessions.
    private static let datagramsPerSession = 2
    /// How long they may take, together: a handshake takes a thousand times as long as a report.
    private static let receivingTime = Interval.milliseconds(20)

    /// Receives what has come, up to a number and a time that leave pictures their turn.
    func receive(now: MonotonicTime) {
        for number in 1...(Self.datagramsAtOnce + Self.datagramsPerSession * sessions.all.count) {
            if number % 16 == 0, MonotonicTime.now() - now > Self.receivingTime { return }
            guard let received = socket.udp.receive(into: &buffer) else { return }
            let datagram = buffer[..<received.count]
            handle(datagram, kind: DatagramKind(of: datagram), along: received.path, now: now)
        }
    }

    private func handle(
        _ datagram: ArraySlice<UInt8>, kind: DatagramKind, along path: NetworkPath, now: MonotonicTime
    ) {
        switch kind {
        case .stun:
            handle(stun: Array(datagram), along: path, now: now)
        case .dtls, .rtcp, .rtp:
            guard let session = sessions[path.peer] else { return }
            let wasConnected = session.isConnected
            session.handle(datagram, kind: kind, from: path.peer, now: now)
            sessions.heard(session, at: path.peer)
            if !wasConnected, session.isConnected {
                let how = path.peer.connection == 0 ? "" : " over TCP"
                lines(of: path.peer.host).info("\(session.title) is connected from \(path.peer)\(how)")
            }
            note(session)
        case .other:
            return
        }
    }

    // MARK: TCP

    /// Takes what has come over TCP connections, and lets the sessions go on that waited for room in one.
    func serveStreams(now: MonotonicTime) {
        for ready in streams.takeReady(now: now) {
            if ready.isDrained, let session = sessions[ready.connection.path.peer], session.isStalled {
                session.resume(now: now)
                note(session)
            }
            if ready.reads { read(ready.connection, now: now) }
        }
    }

    /// Each connection is read from once in a turn, so that none keeps the thread.
    private func read(_ connection: StreamConnection, now: MonotonicTime) {
        guard streams.contains(connection) else { return }
        guard let count = connection.read(into: &streamBuffer) else { return close(connection, now: now) }
        var rest = streamBuffer[..<count]
        do throws(StreamFraming.DatagramTooLongError) {
            while let datagram = try connection.framing.next(from: &rest) {
                take(datagram, from: connection, now: now)
                guard streams.contains(connection) else { return }
            }
        } catch {
            close(connection, now: now)
        }
    }

    /// Until a peer has proved itself by a check, a connection can only be used for checks. One for an unknown session
    /// is ignored, because the answer with which the session begins may still be on its way here.
    private func take(_ datagram: ArraySlice<UInt8>, from connection: StreamConnection, now: MonotonicTime) {
        let kind = DatagramKind(of: datagram)
        if connection.session == nil, kind != .stun, !datagram.isEmpty { return close(connection, now: now) }
        connection.heardAt = now
        let peer = connection.path.peer
        handle(datagram, kind: kind, along: connection.path, now: now)
        if connection.session == nil {
            connection.session = sessions[peer]?.id
        } else if sessions[peer] == nil {
            // The session has given it up for others.
            close(connection, now: now)
        }
    }

    private func close(_ connection: StreamConnection, now: MonotonicTime) {
        streams.remove(connection)
        if let session = sessions.connectionClosed(connection.path.peer, now: now) { note(session) }
    }

    func closeExpiredStreams(now: MonotonicTime) {
        for connection in streams.takeExpired(now: now) { close(connection, now: now) }
    }

    /// Closes the connections of a session that is over.
    func closeStreams(of session: PeerSession) {
        for address in session.ice.addresses where address.connection != 0 {
            if let connection = streams[address.connection] { streams.remove(connection) }
        }
    }
}
