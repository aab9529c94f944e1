import CaptureLink
import Glibc
import LinkTransport
import MediaTypes
import Threading

/// The link's thread: waits for captures, their bytes, and what the host wants of them.
final class LinkLoop {
    /// How many connections may be open that are not the track's source.
    private static let strangersLimit = 32
    /// How long each of them may stay at least: time for a capture to say hello, however many others come.
    private static let strangersTime = Interval.milliseconds(100)
    /// What all of them together may have sent of messages that are not yet whole.
    private static let strangersBytes = 4 << 20
    /// Bytes read at once: an IDR of common size takes a few reads.
    private static let readSize = 256 << 10

    private let listener: LinkListener?
    private let ingest: TrackIngest
    private let name: String
    private let inbox: LinkInbox
    private let silencePatience: Interval
    private let admission: LinkAdmission
    private let recorder: LinkRecorder?
    private let log: EventLog
    private let strangersLog: LineBudget
    private var peers: [LinkPeer] = []
    private var buffer = [UInt8](repeating: 0, count: LinkLoop.readSize)
    private var hasToldOfRefusal = false
    private var isStopped = false
    /// Until then the listener is left alone; nil while connections can be taken.
    private var acceptsAgain: MonotonicTime?
    // Without descriptors or memory a connection stays in the listener's queue: asked at once again, poll says "readable".
    private static let shortage = [EMFILE, ENFILE, ENOMEM, ENOBUFS]
    private static let shortagePause = Interval.seconds(1)
    /// Until then there is no room for one more; nil where there is.
    private var isCrowdedUntil: MonotonicTime?
    private var closedForRoom = 0
    private var roomLineDue = MonotonicTime.zero

    init(
        listener: LinkListener?, connection: LinkConnection?, admission: LinkAdmission, ingest: TrackIngest,
        name: String, inbox: LinkInbox, silencePatience: Interval, recorder: LinkRecorder?, log: EventLog
    ) {
        self.admission = admission
        self.recorder = recorder
        strangersLog = LineBudget(log)
        self.silencePatience = silencePatience
        self.listener = listener
        self.ingest = ingest
        self.name = name
        self.inbox = inbox
        self.log = log
        if let connection { take(connection) }
    }

    func run() {
        while !isStopped {
            let ready = wait()
            let now = monotonicNow()
            if let until = isCrowdedUntil, until <= now { isCrowdedUntil = nil }
            for command in inbox.take() { perform(command) }
            if ready.listener { accept(now) }
            for peer in peers {
                if ready.peers.contains(ObjectIdentifier(peer)) { peer.read(into: &buffer, now: now) }
                peer.advance(now: now)
            }
            keepStrangersSmall(now)
            peers.removeAll { $0.isOver }
            if !peers.contains(where: \.isAttached) { hasToldOfRefusal = false }
        }
        for peer in peers {
            peer.end(.stopped, "the host is ending")
            peer.finish()
        }
        listener?.close()
    }

    private func perform(_ command: LinkServer.Command) {
        switch command {
        case .stop:
            isStopped = true
        case .adopt(let descriptor, let watcher):
            do {
                try take(LinkConnection.connect(to: .descriptor(descriptor)), watcher: watcher)
            } catch {
                log.error("link: \(error)")
            }
        }
    }

    /// - Parameter came: when it came to our listener; nil where it was handed over, and is no stranger's.
    private func take(_ connection: LinkConnection, came: MonotonicTime? = nil, watcher: LinkWatcher? = nil) {
        let peer = LinkPeer(
            connection, came: came, admission: admission, ingest: ingest, hostName: name, wake: inbox.wake,
            recorder: recorder, watcher: watcher, silencePatience: silencePatience,
            log: log, strangersLog: strangersLog)
        peer.makesRoom = { [weak self] in self?.endSilentPeer(now: $0) ?? false }
        peers.append(peer)
    }

    /// A capture that hangs must not keep the one out that was started in its place.
    private func endSilentPeer(now: MonotonicTime) -> Bool {
        guard let silent = peers.first(where: { $0.isSilent(now: now) }) else {
            // It tries again every two seconds: said once for as long as the same one holds the track.
            if !hasToldOfRefusal { log.warning("link: a second capture is turned away: one is connected already") }
            hasToldOfRefusal = true
            return false
        }
        silent.end(.other, "it gave no sign of life, and another capture has come")
        return true
    }

    private func accept(_ now: MonotonicTime) {
        guard let listener else { return }
        // Room is made only for who really waits.
        while Self.isReadable(listener.descriptor) {
            do {
                guard makeRoom(now) else { return }
                guard let connection = try listener.accept() else { break }
                take(connection, came: now)
            } catch .system(let call, let subject, let code) where Self.shortage.contains(code) {
                if acceptsAgain == nil {
                    let error = LinkTransportError.system(call: call, subject: subject, code: code)
                    log.error("link: \(error); new connections have to wait")
                }
                acceptsAgain = now + Self.shortagePause
                return
            } catch {
                log.warning("link: \(error)")
                return
            }
        }
        acceptsAgain = nil
    }

    private static func isReadable(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    /// The oldest makes room: connections that only stay silent must not keep a capture out. Those of the address (in IPv6,
    /// of the /64) that has the most of them go first, and none before it had time to say what it is: while all are so young,
    /// others wait in line.
    private func makeRoom(_ now: MonotonicTime) -> Bool {
        let strangers = peers.filter { $0.isStranger && !$0.isOver }
        guard strangers.count >= Self.strangersLimit else { return true }
        guard let index = Self.firstToGo(of: strangers.map { ($0.remote, $0.came) }) else { return true }
        let oldest = strangers[index]
        guard now - oldest.came >= Self.strangersTime else {
            isCrowdedUntil = oldest.came + Self.strangersTime
            return false
        }
        oldest.finish()
        closedForRoom += 1
        if roomLineDue <= now {
            log.warning(
                "link: \(strangers.count) connections have not said what they are; the oldest is closed, "
                    + "as were \(closedForRoom - 1) before it")
            roomLineDue = now + .seconds(1)
        }
        return true
    }

    /// Which of these connections makes room first.
    static func firstToGo(of strangers: [(remote: String?, came: MonotonicTime)]) -> Int? {
        let crowds = Dictionary(grouping: strangers.indices) { index in
            strangers[index].remote.flatMap { AddressRange(around: $0) }
        }
        let largest = crowds.values.max { $0.count < $1.count }
        return largest?.min { strangers[$0].came < strangers[$1].came }
    }

    private func keepStrangersSmall(_ now: MonotonicTime) {
        let strangers = peers.filter { $0.isStranger && !$0.isOver }
        var bytes = strangers.reduce(0) { $0 + $1.unfinishedBytes }
        guard bytes > Self.strangersBytes else { return }
        // As many as it takes: the next turn may be long in coming.
        for largest in strangers.sorted(by: { $0.unfinishedBytes > $1.unfinishedBytes })
        where bytes > Self.strangersBytes {
            bytes -= largest.unfinishedBytes
            strangersLog.warning(
                "link: connections that have not said what they are send too much; one is closed", now: now)
            largest.finish()
        }
    }

    /// Which descriptors have something.
    private struct Ready {
        var listener = false
        var peers: Set<ObjectIdentifier> = []
    }

    private func wait() -> Ready {
        var entries = [pollfd(fd: inbox.wake.descriptor, events: Int16(POLLIN), revents: 0)]
        let until = [acceptsAgain, isCrowdedUntil].compactMap { $0 }.max()
        let isPausing = until.map { $0 > monotonicNow() } ?? false
        entries.append(
            pollfd(fd: isPausing ? -1 : listener?.descriptor ?? -1, events: Int16(POLLIN), revents: 0))
        for peer in peers { entries.append(peer.interest) }
        var deadline = peers.compactMap(\.deadline).min() ?? .distantFuture
        if isPausing, let until { deadline = min(deadline, until) }
        entries.withUnsafeMutableBufferPointer { entries in
            guard let base = entries.baseAddress else { return }
            waitForEvents(base, count: entries.count, until: deadline)
        }
        inbox.wake.consume()
        var ready = Ready()
        ready.listener = entries[1].revents != 0
        for (peer, entry) in zip(peers, entries.dropFirst(2)) where entry.revents != 0 {
            ready.peers.insert(ObjectIdentifier(peer))
        }
        return ready
    }
}
