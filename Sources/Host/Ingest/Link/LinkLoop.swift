import CaptureLink
import Clocks
import Glibc
import LinkTransport
import MediaTypes
import Threading
import TrackHub

/// The link's thread: waits for connections, for bytes from captures, and for commands from the host.
final class LinkLoop {
    /// The most connections that may be open besides the track's source.
    private static let unidentifiedLimit = 32
    /// The least time that each of them may stay, so that a capture can say hello however many others connect.
    private static let unidentifiedTime = Interval.milliseconds(100)
    /// The most bytes of incomplete messages that all of them together may have sent.
    private static let unidentifiedBytes = 4 << 20
    /// How many bytes to read at once; a key frame of a common size takes a few reads.
    private static let readSize = 256 << 10

    private let owner = ThreadOwner()
    private let listener: SocketListener?
    private let ingest: TrackIngest
    private let sound: TrackHub
    private let name: String
    private let inbox: Mailbox<LinkServer.Command>
    private let silenceTimeout: Interval
    private let admission: LinkAdmission
    private let recorder: LinkRecorder?
    private let log: EventLog
    private let lines: LogRateLimiter
    private var peers: [LinkPeer] = []
    private var buffer = [UInt8](repeating: 0, count: LinkLoop.readSize)
    private var hasToldOfRefusal = false
    private var hasToldOfSoundRefusal = false
    private var isStopped = false
    /// When to use the listener again; nil while connections can be accepted.
    private var acceptsAgain: MonotonicTime?
    // Without descriptors or memory a connection stays in the listener's queue, and poll would report it again at once.
    private static let shortage = [EMFILE, ENFILE, ENOMEM, ENOBUFS]
    private static let shortagePause = Interval.seconds(1)
    /// When there may be room for another connection; nil if there is room now.
    private var crowdedUntil: MonotonicTime?
    private var closedForRoom = 0
    private var roomLineDue = MonotonicTime.zero

    init(
        listener: SocketListener?, connection: SocketConnection?, admission: LinkAdmission, ingest: TrackIngest,
        sound: TrackHub, name: String, inbox: Mailbox<LinkServer.Command>, silenceTimeout: Interval,
        recorder: LinkRecorder?, log: EventLog
    ) {
        self.admission = admission
        self.recorder = recorder
        lines = LogRateLimiter(log)
        self.silenceTimeout = silenceTimeout
        self.listener = listener
        self.ingest = ingest
        self.sound = sound
        self.name = name
        self.inbox = inbox
        self.log = log
        if let connection { take(connection) }
    }

    func run() {
        owner.check()
        while !isStopped {
            let ready = wait()
            let now = MonotonicTime.now()
            if let until = crowdedUntil, until <= now { crowdedUntil = nil }
            for command in inbox.take() { perform(command) }
            if ready.listener { accept(now) }
            // Peers are only added behind those that were waited for.
            for (index, peer) in peers.enumerated() {
                if index < ready.peers.count, ready.peers[index] { peer.read(into: &buffer, now: now) }
                peer.advance(now: now)
            }
            keepUnidentifiedSmall(now)
            lines.reportWithheld(now: now)
            peers.removeAll { $0.isOver }
            if !peers.contains(where: \.isAttached) { hasToldOfRefusal = false }
            if !peers.contains(where: \.sound.isAttached) { hasToldOfSoundRefusal = false }
        }
        for peer in peers {
            peer.end(.stopped, "the host is ending")
            peer.finish()
        }
        listener?.close()
        for case .adopt(let descriptor, _) in inbox.close() { close(descriptor) }
    }

    private func perform(_ command: LinkServer.Command) {
        owner.check()
        switch command {
        case .stop:
            isStopped = true
        case .adopt(let descriptor, let watcher):
            do {
                try take(SocketConnection.connect(to: .descriptor(descriptor)), watcher: watcher)
            } catch {
                log.error("link: \(error)")
            }
        }
    }

    /// - Parameter connectedAt: when the connection arrived at our listener; nil if it was handed over to us, so that
    ///   it never counts as unidentified.
    private func take(_ connection: SocketConnection, connectedAt: MonotonicTime? = nil, watcher: LinkWatcher? = nil) {
        let peer = LinkPeer(
            connection, connectedAt: connectedAt, admission: admission, ingest: ingest, sound: sound, hostName: name,
            wake: inbox.wake, recorder: recorder, watcher: watcher, silenceTimeout: silenceTimeout,
            lines: lines)
        peer.evictsStalledSource = { [weak self] in self?.endSilentPeer(now: $0) ?? false }
        peer.onSoundRefusal = { [weak self] in self?.refusedSound(now: $0) }
        peers.append(peer)
    }

    /// Ends a capture that hangs, so that it can't keep out the one that was started in its place. Returns false if
    /// none hangs.
    private func endSilentPeer(now: MonotonicTime) -> Bool {
        owner.check()
        guard let silent = peers.first(where: { $0.isSilent(now: now) }) else {
            // The new capture tries again every two seconds, so this is logged once for as long as the same one holds
            // the track.
            if !hasToldOfRefusal { log.warning("link: refused a second capture: one is already connected") }
            hasToldOfRefusal = true
            return false
        }
        silent.end(.other, "it didn't respond, and another capture has connected")
        return true
    }

    /// Logs that another capture of sound was turned away: once, though it tries again every two seconds. The first one
    /// may be silent for hours, and is ended in its favour only if it doesn't answer.
    private func refusedSound(now: MonotonicTime) {
        owner.check()
        for peer in peers where peer.sound.isAttached { peer.makeRoomForSound(now: now) }
        if !hasToldOfSoundRefusal {
            log.warning("link: refused a second audio capture: one is already connected")
        }
        hasToldOfSoundRefusal = true
    }

    private func accept(_ now: MonotonicTime) {
        guard let listener else { return }
        // Make room only if a connection is really waiting.
        while Self.isReadable(listener.descriptor) {
            do {
                guard makeRoom(now) else { return }
                guard let connection = try listener.accept() else { break }
                take(connection, connectedAt: now)
            } catch .system(let call, let subject, let code) where Self.shortage.contains(code) {
                if acceptsAgain == nil {
                    let error = SocketError.system(call: call, subject: subject, code: code)
                    log.error("link: \(error); new connections have to wait")
                }
                acceptsAgain = now + Self.shortagePause
                return
            } catch {
                lines(of: "").warning("link: \(error)")
                return
            }
        }
        acceptsAgain = nil
    }

    private static func isReadable(_ descriptor: Int32) -> Bool {
        waitForEvents(on: descriptor, until: .zero) != 0
    }

    /// Makes room for one more connection by closing the oldest unidentified one, so that connections that only stay
    /// silent can't keep a capture out.
    ///
    /// The address (in IPv6, the /64) that has the most of them loses one first. None is closed before it has had time
    /// to say what it is; until then, returns false, and new connections wait in the listener's queue.
    private func makeRoom(_ now: MonotonicTime) -> Bool {
        let unidentified = peers.filter { $0.isUnidentified && !$0.isOver }
        guard unidentified.count >= Self.unidentifiedLimit else { return true }
        guard let index = Self.firstToGo(of: unidentified.map { ($0.remote, $0.connectedAt) }) else { return true }
        let oldest = unidentified[index]
        guard now - oldest.connectedAt >= Self.unidentifiedTime else {
            crowdedUntil = oldest.connectedAt + Self.unidentifiedTime
            return false
        }
        oldest.finish()
        closedForRoom += 1
        if roomLineDue <= now {
            log.warning(
                "link: too many unidentified connections (\(unidentified.count)); closed the oldest, "
                    + "and \(closedForRoom - 1) before it")
            roomLineDue = now + .seconds(1)
        }
        return true
    }

    /// Returns the index of the connection to close first: the oldest one from the address that has the most.
    static func firstToGo(of unidentified: [(remote: String?, connectedAt: MonotonicTime)]) -> Int? {
        let oldestFirst = unidentified.indices.sorted { unidentified[$0].connectedAt < unidentified[$1].connectedAt }
        return Crowd.firstToGo(of: oldestFirst) { unidentified[$0].remote }
    }

    private func keepUnidentifiedSmall(_ now: MonotonicTime) {
        let unidentified = peers.filter { $0.isUnidentified && !$0.isOver }
        var bytes = unidentified.reduce(0) { $0 + $1.unfinishedBytes }
        guard bytes > Self.unidentifiedBytes else { return }
        // Close as many as it takes, since the loop may not run again for a while.
        for largest in unidentified.sorted(by: { $0.unfinishedBytes > $1.unfinishedBytes })
        where bytes > Self.unidentifiedBytes {
            bytes -= largest.unfinishedBytes
            lines(of: largest.remote ?? "").warning(
                "link: unidentified connections have sent too much; closed one")
            largest.finish()
        }
    }

    /// The descriptors that have events.
    private struct Ready {
        var listener = false
        /// For each peer that was waited for, in the order of `peers`.
        var peers: [Bool] = []
    }

    private func wait() -> Ready {
        var entries = [pollfd(inbox.wake.descriptor)]
        let until = [acceptsAgain, crowdedUntil].compactMap { $0 }.max()
        let isPausing = until.map { $0 > MonotonicTime.now() } ?? false
        entries.append(
            pollfd(isPausing ? -1 : listener?.descriptor ?? -1))
        for peer in peers { entries.append(peer.interest) }
        var deadline = peers.compactMap(\.deadline).min() ?? .distantFuture
        if isPausing, let until { deadline = min(deadline, until) }
        waitForEvents(&entries, until: deadline)
        if entries[0].isReady { inbox.wake.consume() }
        var ready = Ready()
        ready.listener = entries[1].isReady
        ready.peers = entries.dropFirst(2).map(\.isReady)
        return ready
    }
}
