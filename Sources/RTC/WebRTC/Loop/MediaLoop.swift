import Clocks
import Glibc
import MediaSessions
import MediaTypes
import STUN
import SecureTransport
import Threading
import TrackHub

/// A media thread's loop. It owns its sessions, and waits for the next event: a datagram, a picture, a command, or a
/// session's deadline.
///
/// All loops of a ``LoopGroup`` send on the same UDP socket. The first one receives for all of them, and passes on what
/// is for another one's session.
final class MediaLoop {
    /// The largest datagram that a peer has reason to send. A longer one is treated as empty.
    static let datagramRoom = 2048
    static let ending = "the host is ending"
    static let superfluous = "too many newer sessions aren't connected yet either"
    static let addressesTaken = "the server's UDP port already serves another session of this host"

    let socket: SharedUDPSocket
    let streams: StreamConnections
    let context: DTLSContext
    /// All loops, and the number of this one.
    let group: LoopGroup
    let index: Int
    let inbox: MediaCommandQueue
    /// The log, with a limit for the lines that peers cause by coming and going.
    let lines: LogRateLimiter

    let sessions: SessionTable
    /// The viewers that get whole pictures.
    var frameViewers: [MediaSessionID: FrameViewer] = [:]
    /// Our offers that wait for an answer.
    var unanswered: [MediaSessionID: (deadline: MonotonicTime, giveUp: @Sendable (String) -> Void)] = [:]
    var feeds: [ObjectIdentifier: TrackFeed] = [:]
    let record = SendingStatistics()
    let owner = ThreadOwner()
    // Not checked at run time for overlapping accesses, which would take 3 % of the time of a thread with many viewers.
    @exclusivity(unchecked) var buffer = [UInt8](repeating: 0, count: MediaLoop.datagramRoom)
    /// What was read from a TCP connection.
    var streamBuffer: [UInt8]
    /// The earliest deadline of a viewer of whole pictures or of an offer. Sessions have theirs in their table.
    var nextDeadline = MonotonicTime.distantFuture
    /// The time at which some track may return to 4:4:4.
    var chromaDeadline = MonotonicTime.distantFuture
    var stunQueries: STUNQueries
    let sharedAddresses: SharedAddresses
    var load: LoopLoad
    var nextRateDecision = MonotonicTime.zero
    var nextStatistics = MonotonicTime.zero
    var isStopped = false
    /// What the thread waits for: the UDP socket, the inbox and the TCP connections.
    var entries: [pollfd]
    /// The datagrams of one session that leave together.
    @exclusivity(unchecked) var batch = DatagramBatch()
    /// Whose batches the kernel may divide into their datagrams.
    @exclusivity(unchecked) var segmentation: Segmentation
    /// The datagrams that the socket had no room for.
    @exclusivity(unchecked) var waiting = WaitingDatagrams()
    /// How long the last turn took, without what it received over UDP.
    var sendingTime = Interval.zero
    /// Whether any of the last datagrams came from a session's peer.
    var heardPeer = false
    /// How far CLOCK_REALTIME was ahead of CLOCK_MONOTONIC when it was last looked at.
    var unixOffset = Interval.zero
    /// What was received for each loop in this turn.
    var passed: [ReceivedDatagrams]
    /// What the first loop has passed on to this one, in order. It is handled when this loop would receive.
    var arrivals: [MediaCommand] = []
    /// The sessions that wait for room in the socket, in the order of their turns.
    var stalled: [PeerSession] = []

    /// The loop with the number `index` of `group`, for the calling thread.
    init(
        _ index: Int, of group: LoopGroup, sockets: consuming MediaSockets, context: DTLSContext,
        stunServers: [STUNServerName], sharedAddresses: SharedAddresses, lagLimits: LoopLag.Limits = LoopLag.Limits(),
        halfOpenLimits: SessionTable.HalfOpenLimits = SessionTable.HalfOpenLimits(), lines: LogRateLimiter
    ) {
        load = LoopLoad(lagLimits, now: .now())
        streamBuffer = sockets.takesConnections ? [UInt8](repeating: 0, count: 16 << 10) : []
        socket = sockets.datagrams
        segmentation = Segmentation(isAvailable: socket.udp.canSegment)
        streams = StreamConnections(
            sockets.listener, maxLength: Self.datagramRoom, admission: group.connections, loop: index,
            adopts: sockets.takesConnections && group.loops.count > 1)
        self.context = context
        self.group = group
        self.index = index
        var ownLimits = halfOpenLimits
        ownLimits.count = max(1, halfOpenLimits.count / group.loops.count)
        sessions = SessionTable(sharing: group.addresses, by: index, halfOpenLimits: ownLimits)
        inbox = group.loops[index].inbox
        passed = [ReceivedDatagrams](repeating: ReceivedDatagrams(), count: group.loops.count)
        stunQueries = STUNQueries(stunServers)
        self.sharedAddresses = sharedAddresses
        self.lines = lines
        entries = [
            pollfd(self.socket.udp.descriptor), pollfd(inbox.wake.descriptor), pollfd(streams.descriptor),
        ]
    }

    /// Whether this loop receives for all.
    var isFirst: Bool { index == LoopGroup.first }

    func run() {
        while !isStopped {
            wait()
            let begin = MonotonicTime.now()
            load.lag.turnBegan(at: begin)
            perform(inbox.take(), now: begin)
            // Feeds are updated before anything is sent or received, so that a handshake that completes now can't begin
            // with a picture from before a pause. Their new frames are sent after that, so that a long turn of media
            // doesn't delay the answers and reports that have come already.
            let fed = updateFeeds(now: .now())
            if !waiting.isEmpty { sendWaiting() }
            let hasArrivals = !arrivals.isEmpty
            let receivingAt = MonotonicTime.now()
            if hasArrivals { handleArrivals() }
            if isFirst, entries[0].isReady { receive() }
            let receivedTime = MonotonicTime.now() - receivingAt
            if entries[2].isReady { serveStreams() }
            let sendingAt = MonotonicTime.now()
            sendFrames(of: fed)
            // What becomes due while others are sent pictures waits for the next turn: what the session or its peer has
            // sent since may settle it.
            if sendingAt >= sessions.deadline { advance(dueBy: sendingAt) }
            let now = MonotonicTime.now()
            if now >= streams.deadline { closeExpiredStreams(now: now) }
            if now >= chromaDeadline { pollChroma(now: now) }
            if now >= nextDeadline { advanceOthers(now: now) }
            if now >= stunQueries.deadline { askSTUNServers(now: now) }
            // What viewers of whole pictures confirm comes as commands.
            let mayHaveHeard = entries[0].isReady || entries[2].isReady || hasArrivals || !frameViewers.isEmpty
            if isRateDecisionDue(now, mayHaveHeard: mayHaveHeard) { adaptRates(now: now) }
            lines.reportWithheld(now: now)
            sendingTime = .now() - begin - receivedTime
        }
        for session in sessions.all { session.close(now: MonotonicTime.now()) }
        sendBatch()
        // The sessions hold a reference to this object as their sink, so any that is not released would keep the socket
        // open.
        stalled.removeAll()
        for session in sessions.all {
            delist(session)
            sessions.remove(session)?(.other(Self.ending))
        }
        for id in frameViewers.keys { endFrameViewer(id, Self.ending) }
        for offer in unanswered.values { offer.giveUp(Self.ending) }
        shareStatistics(now: MonotonicTime.now())
        for command in inbox.close() { refuse(command) }
    }

    // MARK: Waiting

    private func wait() {
        sendBatch()
        let deadline = min(
            min(sessions.deadline, nextDeadline), chromaDeadline, min(streams.deadline, stunQueries.deadline),
            arrivals.isEmpty ? .distantFuture : .zero)
        // An entry that waits for nothing would still report errors.
        entries[0].fd = isFirst || !waiting.isEmpty ? socket.udp.descriptor : -1
        entries[0].events = Int16(isFirst ? POLLIN : 0) | Int16(waiting.isEmpty ? 0 : POLLOUT)
        let now = MonotonicTime.now()
        load.lag.turnEnded(at: now, next: deadline, cpuTime: .cpuTimeOfThisThread())
        waitForEvents(&entries, until: deadline, now: now)
        if entries[1].isReady { inbox.wake.consume() }
    }

    /// Follows up on a session after each call of it that may have sent something or changed its deadline.
    func note(_ session: PeerSession) {
        owner.check()
        // A session over TCP has no part in the batch: room in its connection lets it go on by itself.
        let isOverUDP = session.ice.selectedPair.current?.peer.connection == 0
        if !sendBatch(), isOverUDP { session.watched?.isStalled = true }
        sessions.reschedule(session)
        if session.watched?.hasNews == true { log(newsOf: session) }
        if session.isStalled, !session.isQueuedForRoom, isOverUDP {
            session.isQueuedForRoom = true
            stalled.append(session)
        }
    }

    private func log(newsOf session: PeerSession) {
        for change in session.watched?.takeNews() ?? [] {
            lines(of: session.ice.selectedPair.current?.peer.host ?? "").info("\(session.title) \(change)")
        }
    }

    /// Advances the sessions that were due at `moment`, each at the time by then, and removes those that have ended.
    private func advance(dueBy moment: MonotonicTime) {
        for session in sessions.takeDue(now: moment) {
            let now = MonotonicTime.now()
            if session.end == nil {
                if sessions.areAllAddressesTaken(session, now: now) {
                    session.close(now: now, reason: Self.addressesTaken)
                }
                session.advance(now: now)
            }
            note(session)
            if session.end != nil { remove(session) }
        }
    }

    private func advanceOthers(now: MonotonicTime) {
        nextDeadline = .distantFuture
        advanceFrameViewers(now: now)
        for (id, offer) in unanswered {
            if offer.deadline <= now {
                unanswered[id] = nil
                offer.giveUp("no answer came")
            } else {
                nextDeadline = min(nextDeadline, offer.deadline)
            }
        }
    }

    func remove(_ session: PeerSession) {
        owner.check()
        sendBatch()
        let onEnd = sessions.remove(session)
        closeStreams(of: session)
        delist(session)
        session.watched?.leave()
        record.ended.add(session.statistics)
        let end = session.end ?? .other("closed")
        lines(of: session.ice.selectedPair.current?.peer.host ?? "").info("\(session.title) left: \(end)")
        onEnd?(end)
        // Its tracks may return to 4:4:4 some time after it, and nothing may wake the thread again soon.
        chromaDeadline = .zero
        (nextRateDecision, nextStatistics) = (.zero, .zero)
    }
}
