import CaptureLink
import Clocks
import Glibc
import LinkTransport
import MediaTypes
import Recording
import Threading
import TrackHub

/// One connection of the link: unidentified until its first message, then the source of the track's pictures, of its
/// sound, or, as a replay may be, of both.
///
/// Belongs to the link's thread. This part has the connection; `LinkPeer+Messages` handles the messages.
final class LinkPeer {
    private let connection: SocketConnection
    let ingest: TrackIngest
    let log: EventLog
    let source: LinkSource
    let recording: PeerRecording?
    var decoder = MessageDecoder()
    var pictures: PeerPictures
    var sound: PeerAudio
    var pointer = LinkPointer()
    /// Encodes the host's messages to the connection as a whole.
    var encoder = MessageEncoder(epoch: 0)
    /// Whether it is the source of the track's pictures.
    var isAttached = false
    var reason = "capture closed the connection"
    var greeting = ""
    private(set) var silence: PeerSilence
    /// The silence of a live audio capture; nil for all other peers.
    var soundSilence: AudioSilence?
    /// Receives the connection's events, for the owner that started the capture.
    let watcher: LinkWatcher?
    /// The token check that must be passed before anything else; nil if none is needed or it has been passed.
    var check: CaptureCheck?
    /// Whether a legacy sender, which can't prove anything, is accepted from the peer's address.
    let mayBeLegacy: Bool
    /// When it connected.
    let connectedAt: MonotonicTime
    private let isFromListener: Bool
    /// How long it may be silent before its first message.
    private static let identificationTimeout = Interval.seconds(8)
    /// How long it may wait before the handshake of an encrypted link.
    private static let handshakeTimeout = Interval.seconds(1)
    /// Called if another source is already attached. Ends that source if it hangs, and returns whether it did.
    var evictsStalledSource: (MonotonicTime) -> Bool = { _ in false }
    /// Called if the peer would be a second audio source.
    var onSoundRefusal: (MonotonicTime) -> Void = { _ in }
    /// Set once the end of the connection has been announced to the peer.
    private var farewell: LingeringClose?

    /// Whether the peer connected through the listener and is no source of the track: it hasn't identified itself yet,
    /// or is refused.
    var isUnidentified: Bool { isFromListener && !isSource }
    /// Whether it is the source of the pictures or of the sound.
    var isSource: Bool { isAttached || sound.isAttached }
    var isFirstMessage = true
    /// Its IP address; nil if it is certainly on this machine.
    var remote: String? { connection.remote }
    /// How many bytes are held of messages that aren't complete yet.
    var unfinishedBytes: Int { decoder.unfinishedBytes + (recording?.unfinishedBytes ?? 0) }
    /// Whether the connection has ended.
    private(set) var isOver = false

    init(
        _ connection: SocketConnection, connectedAt: MonotonicTime?, admission: LinkAdmission, ingest: TrackIngest,
        sound: TrackHub, hostName: String, wake: EventFD, recorder: LinkRecorder?, watcher: LinkWatcher?,
        silenceTimeout: Interval, lines: LogRateLimiter
    ) {
        self.watcher = watcher
        // A capture that we started ourselves doesn't share a budget with unidentified peers on this machine.
        log = lines(of: connectedAt == nil ? "our own capture" : connection.remote ?? "")
        silence = PeerSilence(timeout: silenceTimeout)
        pictures = PeerPictures(
            isElsewhere: connection.remote != nil, replayNumber: UInt64.random(in: 1 ... .max), log: log)
        self.connection = connection
        self.ingest = ingest
        let isChecked = connectedAt != nil && connection.remote != nil
        check = isChecked ? admission.check() : nil
        mayBeLegacy = admission.takesLegacySender(at: connection.remote)
        self.connectedAt = connectedAt ?? .zero
        isFromListener = connectedAt != nil
        // A proof is small, so a peer that has yet to send one gets no room for more.
        if check != nil, !mayBeLegacy { decoder.limits.unit = decoder.limits.controlMessage }
        source = LinkSource(wake: wake)
        self.sound = PeerAudio(hub: sound, wake: wake)
        recording = recorder.map(PeerRecording.init)
        if let check { send(check.challenge) }
        // Sent at once, since our own captures send only units until it arrives. A legacy sender never reads it.
        send(.hello(Hello(role: .host, name: hostName, processID: UInt32(getpid()), makesKeyFrames: true)))
    }

    var descriptor: Int32 { connection.descriptor }

    /// The events to poll for. While a replay waits for its recording, only writing is of interest.
    var interest: pollfd {
        let isRead = recording?.isHeldBack != true
        let events = (isRead ? POLLIN : 0) | (connection.wantsWrite ? POLLOUT : 0)
        return pollfd(events == 0 ? -1 : descriptor, events)
    }

    var deadline: MonotonicTime? {
        if let farewell { return farewell.deadline }
        let silenceReport = watcher == nil ? nil : isToBeHeard ? silence.deadline : soundSilence?.deadline
        return [pictures.deadline, firstWordDeadline, silenceReport].compactMap { $0 }.min()
    }

    /// When the first message is due; nil after it, or if the peer didn't connect through the listener.
    private var firstWordDeadline: MonotonicTime? {
        guard isFromListener, isFirstMessage else { return nil }
        return connectedAt + (connection.awaitsHandshake ? Self.handshakeTimeout : Self.identificationTimeout)
    }

    /// Whether it is expected to send something while it runs. Sound may be silent for hours.
    private var isToBeHeard: Bool { isAttached && source.makesKeyFrames }

    /// Reads the received bytes, and passes on complete messages.
    func read(into buffer: inout [UInt8], now: MonotonicTime) {
        if let farewell {
            if farewell.discard(into: &buffer) { finish() }
            return
        }
        do {
            // If flushing fails, the peer is gone, but what it sent before still has to be read.
            if connection.wantsWrite { _ = try? connection.flush() }
            if recording?.isHeldBack == true { return }
            switch try connection.receive(into: &buffer) {
            case .wouldBlock:
                return
            case .closed:
                pictures.finish()
                deliver(now: now)
                try decoder.finish()
                finish()
            case .bytes(let count):
                silence.heard(at: now)
                soundSilence?.heard(at: now)
                decoder.push(buffer[..<count])
                // Also record the bytes after a message that ends the connection: they may show the fault.
                defer { recording?.take(buffer[..<count], at: now) }
                pictures.bytesArrived(at: now)
                while let message = try decoder.next() {
                    guard take(message, now: now) else { return }
                }
                // A message of an unknown kind has arrived instead of the proof.
                if check != nil, decoder.skippedCount > 0 { return refuse() }
                deliver(now: now)
            }
        } catch let error as LinkError {
            deliver(now: now)
            if error.isTLS, let remote {
                log.error("link: \(remote) encrypts its link: it was started with tls:, and this host with tcp:")
                end(.protocolError, "this host doesn't encrypt its link")
            } else if case .endedInsideMessage = error {
                // Only report this: the peer may simply have died.
                connectionLost(error)
            } else {
                log.error("link: \(error); the connection is ended")
                end(.protocolError, "\(error)")
            }
        } catch {
            connectionLost(error)
        }
    }

    /// Ends a connection that was lost.
    private func connectionLost(_ error: any Error) {
        reason = "\(error)"
        log.warning("link: \(error)")
        finish()
    }

    /// Does what is due at `now`, and sends the messages that wait in the source.
    func advance(now: MonotonicTime) {
        guard !isOver else { return }
        if let farewell {
            if farewell.deadline <= now { finish() }
            return
        }
        if let due = firstWordDeadline, due <= now {
            let doubt =
                connection.awaitsHandshake
                ? "; if \(remote ?? "it") is a capture, it was started with tcp:, and this host with tls:" : ""
            log.warning("link: closed a connection that sent no message\(doubt)")
            connection.tellEncryption()
            finish()
            return
        }
        // The ping carries the time of this very moment, so that what the thread did since it woke up doesn't count as
        // network delay.
        if let time = pictures.pingIfDue(MonotonicTime.now()) { send(.ping(time)) }
        if pictures.timeoutIfDue(now) { deliver(now: now) }
        pictures.logFaults(now)
        // If a capture doesn't read, its messages wait in the source, which keeps the latest of each kind.
        for message in connection.hasPending ? [] : source.takeMessages() where decoder.form == .extended {
            if message == .watched { silence.told(toRun: true, at: now) }
            if message == .unwatched { silence.told(toRun: false, at: now) }
            send(message)
        }
        for message in connection.hasPending ? [] : sound.takeMessages() {
            if message == .watched { soundSilence?.told(toRun: true, at: now) }
            if message == .unwatched { soundSilence?.told(toRun: false, at: now) }
            send(message, PeerAudio.encoder)
        }
        guard let watcher else { return }
        if soundSilence?.asksIfDue(now) == true { send(.ping(now)) }
        if isToBeHeard ? silence.tellIfDue(now) : soundSilence?.tellIfDue(now) == true {
            watcher.onEvent(.silent(silence.timeout))
        }
    }

    /// Ends this audio capture if it hangs, since another one has connected. Otherwise pings it; the other one connects
    /// again.
    func makeRoomForSound(now: MonotonicTime) {
        if soundSilence?.isTooLong(now) == true {
            end(.other, "it didn't respond, and another audio capture has connected")
        } else if soundSilence?.asksForAnother(now) == true {
            send(.ping(now))
        }
    }

    /// Whether the peer hangs: it should run, and so send a picture every 2.5 s, but has been silent for too long.
    func isSilent(now: MonotonicTime) -> Bool { isToBeHeard && silence.isTooLong(now) }

    /// Sends the peer the reason for the end, and closes the connection once the peer has read it, or after one second.
    func end(_ endReason: EndReason, _ text: String) {
        guard !isOver, farewell == nil else { return }
        if decoder.form != .legacy40, decoder.form != .legacy16 {
            send(.end(EndNotice(reason: endReason, text: text)))
        }
        reason = text
        farewell = LingeringClose(connection)
        detach()
    }

    /// Closes the connection at once.
    func finish() {
        isOver = true
        connection.close()
        detach()
    }

    /// Ends the connection of a peer that has not proved that it has the token.
    func refuse() {
        log.warning("link: \(remote ?? "a peer") is refused: it has not proved that it has the capture key")
        end(.unauthorised, HostCheck.refusal)
    }

    func send(_ message: LinkMessage) { send(message, encoder) }

    private func send(_ message: LinkMessage, _ encoder: MessageEncoder) {
        do {
            let bytes = encoder.encode(message)
            try connection.enqueue(header: bytes)
            recording?.recordAnswer(bytes)
        } catch {
            log.debug("link: \(error)")
        }
    }

    private func detach() {
        let now = MonotonicTime.now()
        pictures.logFaults(now, isLast: true)
        guard isSource else { return }
        reason = watcher?.endReason ?? reason
        log.info("link: capture is gone: \(reason)")
        if sound.detach(reason: reason, now: now), sound.faults > 0 {
            log.warning("link: \(sound.faults) packets of sound could not be used")
        }
        guard isAttached else { return }
        isAttached = false
        ingest.detach(source, reason: reason)
    }
}
