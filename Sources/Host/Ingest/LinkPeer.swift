import CaptureLink
import Glibc
import LinkTransport
import MediaTypes
import Recording
import Threading

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
    /// Whether its pictures are the track's.
    private(set) var isAttached = false
    private var reason = "capture closed the connection"
    private var greeting = ""
    private var silence: PeerSilence
    /// Whoever has started the capture; told of its silence once.
    private let watcher: LinkWatcher?
    /// What it has to prove before anything else; nil where nothing, or it has.
    private var check: CaptureCheck?
    /// Whether a legacy sender, which can't prove anything, is taken from where it is.
    private let mayBeLegacy: Bool
    private let strangersLog: LineBudget
    /// When it came.
    let came: MonotonicTime
    private let isFromListener: Bool
    /// How long it may be silent before its first message.
    private static let strangersPatience = Interval.seconds(8)
    /// Asked where another source is attached already: whether that one had to go, because it is silent.
    var makesRoom: (MonotonicTime) -> Bool = { _ in false }
    /// Set once the peer was told the end: until then it may take to hear of it.
    private var closesBy: MonotonicTime?
    /// A peer that is still writing when we close never reads why: its next write fails first.
    private static let lastWords = Interval.seconds(1)

    /// Whether it came to the listener and is not the track's source: it has not shown what it is, or is turned away.
    var isStranger: Bool { isFromListener && !isAttached }
    private var isFirstMessage = true
    /// Its IP address; nil where it is of this machine for sure.
    var remote: String? { connection.remote }
    /// Bytes of a message that is not yet whole.
    var unfinishedBytes: Int { decoder.unfinishedBytes + (recording?.unfinishedBytes ?? 0) }
    /// Whether the connection has ended.
    private(set) var isOver = false

    init(
        _ connection: LinkConnection, came: MonotonicTime?, admission: LinkAdmission, ingest: TrackIngest,
        hostName: String, wake: WakeUp, recorder: LinkRecorder?, watcher: LinkWatcher?, silencePatience: Interval,
        log: EventLog,
        strangersLog: LineBudget
    ) {
        self.watcher = watcher
        silence = PeerSilence(patience: silencePatience)
        pictures = PeerPictures(
            isElsewhere: connection.remote != nil, replayNumber: UInt64.random(in: 1 ... .max), log: log)
        self.connection = connection
        self.ingest = ingest
        self.log = log
        self.strangersLog = strangersLog
        let isChecked = came != nil && connection.remote != nil
        check = isChecked ? admission.check() : nil
        mayBeLegacy = admission.takesLegacySender(at: connection.remote)
        self.came = came ?? .zero
        isFromListener = came != nil
        // A proof is small; whoever has none needs no room for more.
        if check != nil, !mayBeLegacy { decoder.limits.nalUnit = decoder.limits.controlMessage }
        source = LinkSource(wake: wake)
        recording = recorder.map(PeerRecording.init)
        if let check { send(check.challenge) }
        // Said at once: our own capture waits for it before it sends more than NAL units. A legacy sender never reads it.
        send(.hello(Hello(role: .host, name: hostName, processID: UInt32(getpid()), canMakeIDR: true)))
    }

    var descriptor: Int32 { connection.descriptor }

    /// What to poll for. A replay waits for its recording; nothing but writing is of interest then.
    var interest: pollfd {
        let isRead = recording?.isHeldBack != true
        let events = (isRead ? POLLIN : 0) | (connection.wantsWrite ? POLLOUT : 0)
        return pollfd(fd: events == 0 ? -1 : descriptor, events: Int16(events), revents: 0)
    }

    var deadline: MonotonicTime? {
        if let closesBy { return closesBy }
        let firstWord = isFromListener && isFirstMessage ? came + Self.strangersPatience : nil
        return [pictures.deadline, firstWord, silenceDeadline].compactMap { $0 }.min()
    }

    /// When the silence of a capture that is watched will be told.
    private var silenceDeadline: MonotonicTime? { watcher != nil && isToBeHeard ? silence.deadline : nil }
    /// Whether it sends something while it runs.
    private var isToBeHeard: Bool { isAttached && source.canMakeIDR }

    /// Reads what has come and hands on what it completes.
    func read(into buffer: inout [UInt8], now: MonotonicTime) {
        if closesBy != nil { return discard(into: &buffer) }
        do {
            // Where that fails the peer is gone; what it sent before is still to be read.
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
                // Also what is behind a message that ends the connection: it came, and may be the fault that is looked for.
                defer { recording?.take(buffer[..<count], at: now) }
                pictures.bytesArrived(at: now)
                while let message = try decoder.next() {
                    guard take(message, now: now) else { return }
                }
                // Of a kind that we don't know, in place of the proof.
                if check != nil, decoder.skippedCount > 0 { return refuse(now) }
                deliver(now: now)
            }
        } catch let error as LinkError {
            deliver(now: now)
            if case .endedInsideMessage = error {
                // Reported and nothing more: the peer may just have died.
                warn("link: \(error)", now)
                reason = "\(error)"
                finish()
            } else {
                complain("link: \(error); the connection is ended", now)
                end(.protocolError, "\(error)")
            }
        } catch {
            warn("link: \(error)", now)
            reason = "\(error)"
            finish()
        }
    }

    private func warn(_ line: String, _ now: MonotonicTime) {
        if isStranger { strangersLog.warning(line, now: now) } else { log.warning(line) }
    }

    private func complain(_ line: String, _ now: MonotonicTime) {
        if isStranger { strangersLog.error(line, now: now) } else { log.error(line) }
    }

    /// Does what the time and the host ask for.
    func advance(now: MonotonicTime) {
        guard !isOver else { return }
        if let closesBy {
            if closesBy <= now { finish() }
            return
        }
        if isFromListener, isFirstMessage, came + Self.strangersPatience <= now {
            strangersLog.warning("link: a connection that says nothing is closed", now: now)
            finish()
            return
        }
        // Its time is that of the very moment: what the thread did since it woke up is no part of the way.
        if let time = pictures.pingIfDue(monotonicNow()) { send(.ping(time)) }
        if pictures.timeoutIfDue(now) { deliver(now: now) }
        pictures.logFaults(now)
        // A capture that doesn't read: what it is to be told waits in the source, the latest of each kind.
        for message in connection.hasPending ? [] : source.takeMessages() where decoder.form == .extended {
            if message == .resume { silence.told(toRun: true, at: now) }
            if message == .pause { silence.told(toRun: false, at: now) }
            send(message)
        }
        if let watcher, isToBeHeard, silence.tellIfDue(now) { watcher.onEvent(.silent(silence.patience)) }
    }

    /// Whether a source that should run, and then sends a picture each 2.5 s, hangs.
    func isSilent(now: MonotonicTime) -> Bool { isToBeHeard && silence.isTooLong(now) }

    /// Tells the peer why, and ends the connection as soon as the peer has heard it, or in a second.
    func end(_ endReason: EndReason, _ text: String) {
        guard !isOver, closesBy == nil else { return }
        if decoder.form != .legacy40, decoder.form != .legacy16 {
            send(.end(EndNotice(reason: endReason, text: text)))
        }
        reason = text
        closesBy = monotonicNow() + Self.lastWords
        detach()
        endWriting()
    }

    /// Closes at once.
    func finish() {
        isOver = true
        connection.close()
        detach()
    }

    /// What a peer still writes that was told the end.
    private func discard(into buffer: inout [UInt8]) {
        do {
            if connection.wantsWrite {
                try connection.flush()
                endWriting()
            }
            if try connection.receive(into: &buffer) == .closed { finish() }
        } catch {
            finish()
        }
    }

    private func endWriting() {
        if !connection.wantsWrite { shutdown(connection.descriptor, Int32(SHUT_WR)) }
    }

    /// Ends the connection of a peer that has not proved that it has the token.
    private func refuse(_ now: MonotonicTime) {
        strangersLog.warning(
            "link: \(remote ?? "a peer") is refused: it has not proved that it has the token", now: now)
        end(.unauthorised, HostCheck.refusal)
    }

    /// False where the connection has ended over the message.
    private func take(_ message: ReceivedMessage, now: MonotonicTime) -> Bool {
        if let check, message.form == .extended || !mayBeLegacy {
            guard let proof = check.proof(for: message.body) else {
                refuse(now)
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
            // A host that has no token has asked for nothing.
            return true
        case .hello(let hello):
            guard hello.version >= 1 else {
                end(.versionMismatch, "this host speaks version \(Hello.currentVersion) of the link")
                return false
            }
            guard hello.role != .host else {
                end(.protocolError, "two hosts can't be linked to each other")
                return false
            }
            // What it is it says once: a slow disk holds a replay back, and must not begin to with a capture.
            if greeting.isEmpty {
                pictures.isReplay = hello.role == .replay
                recording?.isLossless = pictures.isReplay
            }
            pictures.greeted()
            source.makesIDRs.store(hello.canMakeIDR)
            source.pointerTeller.store(hello.tellsPointer)
            source.hasBothChromaFormats.store(hello.changesChroma)
            if isAttached { ingest.abilitiesChanged(of: source) }
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
            if isAttached { ingest.statisticsChanged(of: source, to: done, now: now) }
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
        // Not before the source is attached: a capture may begin with it.
        if case .sharing(let state) = message.body { ingest.sharingChanged(of: source, to: state) }
        for report in pointer.take(message) { ingest.report(report, from: source) }
        pictures.add(message, at: now)
        if source.canMakeIDR, recording?.wantsKeyFrame(behind: message.body, at: now) == true { source.requestIDR() }
        deliver(now: now)
        return true
    }

    private func deliver(now: MonotonicTime) {
        while let (unit, epoch) = pictures.next(now) { ingest.deliver(unit, from: source, epoch: epoch, arrival: now) }
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
        pictures.logFaults(monotonicNow(), isLast: true)
        guard isAttached else { return }
        isAttached = false
        let reason = watcher?.endReason ?? reason
        log.info("link: capture is gone: \(reason)")
        ingest.detach(source, reason: reason)
    }
}
