import CaptureLink
import Glibc
import LinkTransport
import MediaTypes
import Threading

/// The link's thread: waits for captures, their bytes, and what the host wants of them.
final class LinkLoop {
    /// How many connections may be open before they have shown what they are.
    private static let strangersLimit = 32
    /// Bytes read at once: an IDR of common size takes a few reads.
    private static let readSize = 256 << 10

    private let listener: LinkListener?
    private let ingest: TrackIngest
    private let name: String
    private let inbox: LinkInbox
    private let silencePatience: Interval
    private let recorder: LinkRecorder?
    private let log: EventLog
    private var peers: [LinkPeer] = []
    private var buffer = [UInt8](repeating: 0, count: LinkLoop.readSize)
    private var hasToldOfRefusal = false
    private var isStopped = false
    /// Until then the listener is left alone; nil while connections can be taken.
    private var acceptsAgain: MonotonicTime?
    // Without descriptors or memory a connection stays in the listener's queue: asked at once again, poll says "readable".
    private static let shortage = [EMFILE, ENFILE, ENOMEM, ENOBUFS]
    private static let shortagePause = Interval.seconds(1)

    init(
        listener: LinkListener?, connection: LinkConnection?, ingest: TrackIngest, name: String, inbox: LinkInbox,
        silencePatience: Interval, recorder: LinkRecorder?, log: EventLog
    ) {
        self.recorder = recorder
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
            for command in inbox.take() { perform(command) }
            if ready.listener { accept(now) }
            for peer in peers {
                if ready.peers.contains(ObjectIdentifier(peer)) { peer.read(into: &buffer, now: now) }
                peer.advance(now: now)
            }
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
        case .adopt(let descriptor):
            do {
                try take(LinkConnection.connect(to: .descriptor(descriptor)))
            } catch {
                log.error("link: \(error)")
            }
        }
    }

    private func take(_ connection: LinkConnection) {
        let peer = LinkPeer(
            connection, ingest: ingest, hostName: name, wake: inbox.wake, recorder: recorder, log: log)
        peer.makesRoom = { [weak self] in self?.endSilentPeer(now: $0) ?? false }
        peers.append(peer)
    }

    /// A capture that hangs must not keep the one out that was started in its place.
    private func endSilentPeer(now: MonotonicTime) -> Bool {
        guard let silent = peers.first(where: { $0.isSilent(for: silencePatience, now: now) }) else {
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
        while true {
            do {
                guard let connection = try listener.accept() else {
                    acceptsAgain = nil
                    return
                }
                // The oldest makes room: connections that only stay silent must not keep a capture out.
                let strangers = peers.filter { $0.isStranger && !$0.isOver }
                if strangers.count >= Self.strangersLimit, let oldest = strangers.first {
                    log.warning(
                        "link: \(strangers.count) connections have not said what they are; the oldest is closed")
                    oldest.finish()
                }
                take(connection)
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
    }

    /// Which descriptors have something.
    private struct Ready {
        var listener = false
        var peers: Set<ObjectIdentifier> = []
    }

    private func wait() -> Ready {
        var entries = [pollfd(fd: inbox.wake.descriptor, events: Int16(POLLIN), revents: 0)]
        let isPausing = acceptsAgain.map { $0 > monotonicNow() } ?? false
        entries.append(
            pollfd(fd: isPausing ? -1 : listener?.descriptor ?? -1, events: Int16(POLLIN), revents: 0))
        for peer in peers { entries.append(peer.interest) }
        var deadline = peers.compactMap(\.deadline).min() ?? .distantFuture
        if isPausing, let acceptsAgain { deadline = min(deadline, acceptsAgain) }
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
