import Clocks
import MediaTypes
import STUN
import Threading

/// What peers send, over the UDP socket and over TCP connections.
extension MediaLoop {
    /// How long a turn may receive whatever comes. A handshake takes a thousand times as long as a report.
    private static let leastReceivingTime = Interval.milliseconds(20)
    /// Turns that are longer still would receive more of a flood, send more pictures, and so on.
    private static let mostReceivingTime = Interval.milliseconds(200)
    /// The clocks are read once for so many datagrams.
    private static let datagramsPerLook = 16
    /// The wall clock counts as set if it has gained more than this. Less does no harm.
    private static let clockStep = Interval.milliseconds(10)
    /// So many datagrams for another loop are passed on at once.
    private static let passedAtOnce = 64

    /// How long this turn may receive what sessions' peers send, which leaves pictures their turn: as long as the last
    /// one took for all else. While that goes on, datagrams come, and if fewer were read, the socket would soon have no
    /// room for the checks that keep sessions.
    private var receivingTime: Interval { min(max(Self.leastReceivingTime, sendingTime), Self.mostReceivingTime) }

    /// Receives what has come for all loops, for about ``receivingTime`` at most, and strangers' datagrams for no more
    /// than 20 ms.
    func receive(clock: () -> MonotonicTime = { .now() }) {
        var (now, unixTime) = readClocks(clock)
        let begin = now
        var count = 0
        heardPeer = false
        while let received = socket.udp.receive(into: &buffer) {
            let datagram = buffer[..<received.count]
            let kind = DatagramKind(of: datagram)
            let arrival = unixTime.map { now - max(.zero, $0 - received.arrival) } ?? now
            if kind != .stun, kind != .other, let loop = group.addresses?[received.path.peer], loop != index {
                heardPeer = true
                pass(datagram, along: received.path, arrival: arrival, to: loop)
            } else {
                handle(datagram, kind: kind, along: received.path, arrival: arrival, now: now)
            }
            count += 1
            guard count.isMultiple(of: Self.datagramsPerLook) else { continue }
            let look = readClocks(clock)
            // What waited while the wall clock was set may take more than one look to read.
            (now, unixTime) = (look.now, unixTime == nil ? nil : look.unixTime)
            if now - begin > (heardPeer ? receivingTime : Self.leastReceivingTime) { break }
            heardPeer = false
        }
        for loop in passed.indices where passed[loop].count > 0 { passOn(to: loop) }
    }

    /// The time by both clocks. That of the wall clock is nil in the first call, and if it was set forward since the
    /// last one: what waited meanwhile would seem to have waited for so much longer.
    private func readClocks(_ clock: () -> MonotonicTime) -> (now: MonotonicTime, unixTime: Interval?) {
        // In this order, so that a pause between the two makes no datagram seem older than it is: a round trip that is
        // too short would make later ones look like a queue.
        let unixTime = Interval.sinceUnixEpoch()
        let now = clock()
        let offset = unixTime - Interval(nanoseconds: now.nanoseconds)
        defer { unixOffset = offset }
        return (now, offset - unixOffset > Self.clockStep ? nil : unixTime)
    }

    /// Passes on a datagram for another loop, together with others.
    func pass(_ datagram: ArraySlice<UInt8>, along path: NetworkPath, arrival: MonotonicTime, to loop: Int) {
        passed[loop].append(datagram, along: path, arrival: arrival)
        if passed[loop].count == Self.passedAtOnce { passOn(to: loop) }
    }

    private func passOn(to loop: Int) {
        group.loops[loop].post(passed[loop])
        passed[loop] = ReceivedDatagrams()
    }

    /// Handles what the first loop has passed on, in order, for about ``receivingTime`` at most. The rest stays for the
    /// next turn.
    func handleArrivals() {
        let limit = receivingTime
        let begin = MonotonicTime.now()
        var handled = 0
        for arrival in arrivals {
            let now = MonotonicTime.now()
            if handled > 0, now - begin > limit { break }
            handled += 1
            switch arrival {
            case .datagrams(let received):
                group.loops[index].datagramsTaken(received.count)
                received.forEach {
                    handle($0, kind: DatagramKind(of: $0), along: $1, arrival: min($2, now), now: now)
                }
            case .takeConnection(let connection, let bytes):
                if streams.adopt(connection.value) { take(bytes[...], from: connection.value, now: now) }
            case .closeConnection(let number):
                if let connection = streams[number] { close(connection, now: now) }
            default: break
            }
        }
        arrivals.removeFirst(handled)
    }

    private func handle(
        _ datagram: ArraySlice<UInt8>, kind: DatagramKind, along path: NetworkPath, arrival: MonotonicTime,
        now: MonotonicTime
    ) {
        switch kind {
        case .stun:
            handle(stun: Array(datagram), along: path, now: now)
        case .dtls, .rtcp, .rtp:
            guard let session = sessions[path.peer] else { return }
            heardPeer = true
            let wasConnected = session.isConnected
            session.handle(datagram, kind: kind, from: path.peer, arrival: arrival, now: now)
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
    func serveStreams() {
        let served = streams.takeReady(now: .now())
        for place in streams.takeSuperfluous() { group.loops[place.loop].inbox.post(.closeConnection(place.number)) }
        for ready in served {
            let now = MonotonicTime.now()
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
        take(streamBuffer[..<count], from: connection, now: now)
    }

    /// Handles the datagrams in `bytes`, which were read from a connection.
    private func take(_ bytes: ArraySlice<UInt8>, from connection: StreamConnection, now: MonotonicTime) {
        var rest = bytes
        do throws(StreamFraming.DatagramTooLongError) {
            while let datagram = try connection.framing.next(from: &rest) {
                if let loop = otherLoop(for: datagram, from: connection) {
                    return pass(connection, to: loop, with: datagram, followedBy: rest)
                }
                handle(datagram, from: connection, now: now)
                guard streams.contains(connection) else { return }
            }
        } catch {
            close(connection, now: now)
        }
    }

    /// Until a peer has proved itself by a check, a connection can only be used for checks. One for an unknown session
    /// is ignored, because the answer with which the session begins may still be on its way here.
    private func handle(_ datagram: ArraySlice<UInt8>, from connection: StreamConnection, now: MonotonicTime) {
        let kind = DatagramKind(of: datagram)
        if connection.session == nil, kind != .stun, !datagram.isEmpty { return close(connection, now: now) }
        connection.heardAt = now
        let peer = connection.path.peer
        handle(datagram, kind: kind, along: connection.path, arrival: now, now: now)
        if connection.session == nil {
            connection.session = sessions[peer]?.id
        } else if sessions[peer] == nil {
            // The session has given it up for others.
            close(connection, now: now)
        }
    }

    /// The loop that a connection which has proved nothing should go to, because `datagram` names a session there.
    private func otherLoop(for datagram: ArraySlice<UInt8>, from connection: StreamConnection) -> Int? {
        guard isFirst, group.loops.count > 1, connection.session == nil, DatagramKind(of: datagram) == .stun,
            let message = try? STUNMessage(parsing: Array(datagram)), message.messageClass == .request,
            let loop = group.loop(of: message), loop != index
        else { return nil }
        return loop
    }

    /// Hands a connection over to another loop, which handles `datagram` and what was read behind it.
    private func pass(
        _ connection: StreamConnection, to loop: Int, with datagram: ArraySlice<UInt8>,
        followedBy rest: ArraySlice<UInt8>
    ) {
        streams.release(connection, to: loop)
        var bytes = [UInt8(truncatingIfNeeded: datagram.count >> 8), UInt8(truncatingIfNeeded: datagram.count)]
        bytes.append(contentsOf: datagram)
        bytes.append(contentsOf: rest)
        group.loops[loop].inbox.post(.takeConnection(Sent(connection), read: bytes))
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
