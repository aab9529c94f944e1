import CaptureLink
import Clocks
import Glibc
import LinkTransport
import MediaTypes
import Recording
import Threading
import TrackHub

/// One connection of the link: a stranger until its first message, then the track's source.
///
/// Belongs to the link's thread.
final class LinkPeer {
    private let connection: LinkConnection
    private let ingest: TrackIngest
    private let log: EventLog
    private let source: LinkSource
    private let recording: PeerRecording?
    private var decoder = MessageDecoder()
    private var pictures: PeerPictures
    private var pointer = LinkPointer()
    private let encoder = MessageEncoder(epoch: 0)
    /// Whether it is the track's source.
    private(set) var isAttached = false
    private var reason = "capture closed the connection"
    private var greeting = ""
    private var silence: PeerSilence
    /// Told what happens to the connection, for whoever started the capture.
    private let watcher: LinkWatcher?
    /// The token check that must be passed before anything else; nil if none is needed or it has been passed.
    private var check: CaptureCheck?
    /// Whether a legacy sender, which can't prove anything, is accepted from the peer's address.
    private let mayBeLegacy: Bool
    /// When it connected.
    let came: MonotonicTime
    private let isFromListener: Bool
    /// How long it may be silent before its first message.
    private static let strangersPatience = Interval.seconds(8)
    /// Called if another source is already attached. Ends that source if it hangs, and returns whether it did.
    var makesRoom: (MonotonicTime) -> Bool = { _ in false }
    /// Set once the peer has been told that the connection ends.
    private var farewell: PeerFarewell?

    /// Whether it came through the listener and isn't the track's source: it has not shown what it is, or is turned
    /// away.
    var isStranger: Bool { isFromListener && !isAttached }
    private var isFirstMessage = true
    /// Its IP address; nil if it is certainly on this machine.
    var remote: String? { connection.remote }
    /// How many bytes are held of messages that aren't complete yet.
    var unfinishedBytes: Int { decoder.unfinishedBytes + (recording?.unfinishedBytes ?? 0) }
    /// Whether the connection has ended.
    private(set) var isOver = false

    init(
        _ connection: LinkConnection, came: MonotonicTime?, admission: LinkAdmission, ingest: TrackIngest,
        hostName: String, wake: WakeUp, recorder: LinkRecorder?, watcher: LinkWatcher?, silencePatience: Interval,
        lines: LineBudget
    ) {
        self.watcher = watcher
        // A capture that we started ourselves doesn't share a budget with strangers on this machine.
        log = lines(of: came == nil ? "our own capture" : connection.remote ?? "")
        silence = PeerSilence(patience: silencePatience)
        pictures = PeerPictures(
            isElsewhere: connection.remote != nil, replayNumber: UInt64.random(in: 1 ... .max), log: log)
        self.connection = connection
        self.ingest = ingest
        let isChecked = came != nil && connection.remote != nil
        check = isChecked ? admission.check() : nil
        mayBeLegacy = admission.takesLegacySender(at: connection.remote)
        self.came = came ?? .zero
        isFromListener = came != nil
        // A proof is small, so a peer that has yet to send one gets no room for more.
        if check != nil, !mayBeLegacy { decoder.limits.unit = decoder.limits.controlMessage }
        source = LinkSource(wake: wake)
        recording = recorder.map(PeerRecording.init)
        if let check { send(check.challenge) }
        // Sent at once, since our own captures send only units until it comes. A legacy sender never reads it.
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
        let firstWord = isFromListener && isFirstMessage ? came + Self.strangersPatience : nil
        let silenceReport = watcher != nil && isToBeHeard ? silence.deadline : nil
        return [pictures.deadline, firstWord, silenceReport].compactMap { $0 }.min()
    }

    /// Whether it is expected to send something while it runs.
    private var isToBeHeard: Bool { isAttached && source.makesKeyFrames }

    /// Reads what has arrived, and passes on what is complete.
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
                decoder.push(buffer[..<count])
                // Also record what follows a message that ends the connection: it may show what was wrong.
                defer { recording?.take(buffer[..<count], at: now) }
                pictures.bytesArrived(at: now)
                while let message = try decoder.next() {
                    guard take(message, now: now) else { return }
                }
                // A message of an unknown kind has come in place of the proof.
                if check != nil, decoder.skippedCount > 0 { return refuse() }
                deliver(now: now)
            }
        } catch let error as LinkError {
            deliver(now: now)
            if case .endedInsideMessage = error {
                // Only report this: the peer may simply have died.
                lose(error)
            } else {
                log.error("link: \(error); the connection is ended")
                end(.protocolError, "\(error)")
            }
        } catch {
            lose(error)
        }
    }

    /// Ends a connection that was lost.
    private func lose(_ error: any Error) {
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
        if isFromListener, isFirstMessage, came + Self.strangersPatience <= now {
            log.warning("link: a connection that says nothing is closed")
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
        if let watcher, isToBeHeard, silence.tellIfDue(now) { watcher.onEvent(.silent(silence.patience)) }
    }

    /// Whether the peer hangs: it should run, and so send a picture every 2.5 s, but has been silent for too long.
    func isSilent(now: MonotonicTime) -> Bool { isToBeHeard && silence.isTooLong(now) }

    /// Tells the peer why the connection ends, and closes it once the peer has read that, or after one second.
    func end(_ endReason: EndReason, _ text: String) {
        guard !isOver, farewell == nil else { return }
        if decoder.form != .legacy40, decoder.form != .legacy16 {
            send(.end(EndNotice(reason: endReason, text: text)))
        }
        reason = text
        farewell = PeerFarewell(connection)
        detach()
    }

    /// Closes the connection at once.
    func finish() {
        isOver = true
        connection.close()
        detach()
    }

    /// Ends the connection of a peer that has not proved that it has the token.
    private func refuse() {
        log.warning("link: \(remote ?? "a peer") is refused: it has not proved that it has the token")
        end(.unauthorised, HostCheck.refusal)
    }

    /// Handles a message. Returns false if that ended the connection.
    private func take(_ message: ReceivedMessage, now: MonotonicTime) -> Bool {
        if let check, message.form == .extended || !mayBeLegacy {
            guard let proof = check.proof(for: message.body) else {
                refuse()
                return false
            }
            self.check = nil
            decoder.limits = LinkLimits()
            send(proof)
            return true
        }
        check = nil
        switch message.body {
        case .answer:
            // A host without a token has sent no challenge, so the answer means nothing.
            return true
        case .hello(let hello):
            if let (why, text) = hello.refusal {
                end(why, text)
                return false
            }
            // Only the first hello counts: a slow disk may hold back a replay, but must not begin to hold back a
            // capture.
            if greeting.isEmpty {
                pictures.isReplay = hello.role == .replay
                recording?.isLossless = pictures.isReplay
            }
            pictures.greeted()
            source.greeted(with: hello)
            if isAttached { ingest.hub.abilitiesChanged(of: source, now: now) }
            greeting = "\(hello.role) \(hello.name) (process \(hello.processID))"
            if isAttached { log.info("link: \(greeting) has connected") }
        case .pong(let echo):
            if let timing = pictures.take(echo, now) { source.timing = timing }
        case .end(let notice):
            reason = notice.text.isEmpty ? "\(notice.reason)" : notice.text
        case .size(let size):
            log.info("link: pictures of \(size)")
            watcher?.onEvent(.size(size))
        case .statistics(let done):
            log.debug("link: capture has made \(done.summary)")
            ingest.hub.statisticsChanged(of: source, to: done, stages: pictures.stages, now: now)
        default:
            break
        }
        if isFirstMessage {
            isFirstMessage = false
            isAttached = ingest.attach(source) || makesRoom(now) && ingest.attach(source)
            guard isAttached else {
                end(.refused, "another capture is connected to this host")
                return false
            }
            watcher?.onEvent(.arrived)
            recording?.begin(at: now)
            if message.form != .extended { greeting = "a legacy sender (\(message.form))" }
            if !greeting.isEmpty { log.info("link: \(greeting) has connected") }
        }
        // This comes after the source is attached, since a capture may begin with this message.
        if case .sharing(let state) = message.body { ingest.hub.sharingChanged(of: source, to: state) }
        for report in pointer.take(message) { ingest.hub.report(report, from: source) }
        pictures.add(message, at: now)
        if source.makesKeyFrames, recording?.wantsKeyFrame(behind: message.body, at: now) == true {
            source.requestKeyFrame()
        }
        deliver(now: now)
        return true
    }

    private func deliver(now: MonotonicTime) {
        while let (frame, epoch) = pictures.next(now) {
            ingest.deliver(frame, from: source, epoch: epoch, arrival: now)
        }
        pictures.logFaults(now)
    }

    private func send(_ message: LinkMessage) {
        do {
            let bytes = encoder.encode(message)
            try connection.enqueue(header: bytes)
            recording?.recordAnswer(bytes)
        } catch {
            log.debug("link: \(error)")
        }
    }

    private func detach() {
        pictures.logFaults(MonotonicTime.now(), isLast: true)
        guard isAttached else { return }
        (isAttached, reason) = (false, watcher?.endReason ?? reason)
        log.info("link: capture is gone: \(reason)")
        ingest.detach(source, reason: reason)
    }
}
