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
    private var assembler = AccessUnitAssembler()
    private var pointer = LinkPointer()
    private let encoder = MessageEncoder(epoch: 0)
    /// Whether its pictures are the track's.
    private(set) var isAttached = false
    private var reason = "capture closed the connection"
    private var greeting = ""
    private var isReplay = false
    /// What changes a replay's epochs: a recording may come twice, or of the very capture that was here before it.
    private let replayNumber = UInt64.random(in: 1 ... .max)
    private var lastHeard = MonotonicTime.zero
    /// Since when the peer has been told to run; nil while it may be silent.
    private var runsSince: MonotonicTime?
    /// Whoever has started the capture; told of its silence once.
    private let watcher: LinkWatcher?
    private let silencePatience: Interval
    private var hasToldSilence = false
    /// How late we may look at a silence that counts.
    private static let lateness = Interval.seconds(1)
    /// What it has to show before anything else; nil where nothing, or it has.
    private var token: LinkToken?
    private let strangersLog: LineBudget
    /// When it came.
    let came: MonotonicTime
    private let isFromListener: Bool
    /// How long it may be silent before its first message.
    private static let strangersPatience = Interval.seconds(8)
    /// Its clock, where that may not be ours; nil while there is nothing to ask.
    private var clock: PeerClock?
    private var hasToldClock = false
    /// Asked where another source is attached already: whether that one had to go, because it is silent.
    var makesRoom: (MonotonicTime) -> Bool = { _ in false }
    private var loggedFaults: UInt64 = 0
    /// A line for each fault could be thousands a second.
    private var faultLineDue = MonotonicTime.zero
    private static let faultLinePeriod = Interval.seconds(1)
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
        _ connection: LinkConnection, came: MonotonicTime?, token: LinkToken?, ingest: TrackIngest, hostName: String,
        wake: WakeUp, recorder: LinkRecorder?, watcher: LinkWatcher?, silencePatience: Interval, log: EventLog,
        strangersLog: LineBudget
    ) {
        self.watcher = watcher
        self.silencePatience = silencePatience
        self.connection = connection
        self.ingest = ingest
        self.log = log
        self.strangersLog = strangersLog
        self.token = token
        self.came = came ?? .zero
        isFromListener = came != nil
        // A token is small; whoever has none needs no room for more.
        if token != nil { decoder.limits.nalUnit = decoder.limits.controlMessage }
        source = LinkSource(wake: wake)
        recording = recorder.map(PeerRecording.init)
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
        let faultLine = assembler.counters.faults == loggedFaults ? nil : faultLineDue
        let silence = isFromListener && isFirstMessage ? came + Self.strangersPatience : nil
        return [assembler.nextDeadline, faultLine, silence, silenceDeadline, clock?.nextPing].compactMap { $0 }.min()
    }

    /// When a capture that is watched will have been silent for too long; nil where it may be, or that was told.
    private var silenceDeadline: MonotonicTime? {
        guard watcher != nil, !hasToldSilence, isAttached, source.canMakeIDR, let runsSince else { return nil }
        // A moment later, where it is longer than the patience.
        return max(lastHeard, runsSince) + silencePatience + .milliseconds(1)
    }

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
                assembler.finish()
                deliver(now: now)
                try decoder.finish()
                finish()
            case .bytes(let count):
                lastHeard = now
                hasToldSilence = false
                decoder.push(buffer[..<count])
                // Also what is behind a message that ends the connection: it came, and may be the fault that is looked for.
                defer { recording?.take(buffer[..<count], at: now) }
                assembler.bytesArrived(at: now)
                while let message = try decoder.next() {
                    guard take(message, now: now) else { return }
                }
                // Of a kind that we don't know, in place of the token.
                if token != nil, decoder.skippedCount > 0 { return refuse(now) }
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
        if let time = clock?.pingIfDue(monotonicNow()) { send(.ping(time)) }
        if let deadline = assembler.nextDeadline, deadline <= now {
            assembler.timeout(now)
            deliver(now: now)
        }
        logFaults(now)
        // A capture that doesn't read: what it is to be told waits in the source, the latest of each kind.
        for message in connection.hasPending ? [] : source.takeMessages() where decoder.form == .extended {
            if message == .resume, runsSince == nil { runsSince = now }
            if message == .pause { runsSince = nil }
            send(message)
        }
        if let watcher, let silenceDeadline, silenceDeadline <= now {
            if now - silenceDeadline > Self.lateness {
                // We have been stopped ourselves (Ctrl-Z, a machine that slept), and capture perhaps with us.
                lastHeard = now
            } else {
                hasToldSilence = true
                watcher.onEvent(.silent(silencePatience))
            }
        }
    }

    /// Whether a source that should run, and then sends a picture each 2.5 s, has sent nothing for `patience`: it hangs.
    func isSilent(for patience: Interval, now: MonotonicTime) -> Bool {
        guard isAttached, source.canMakeIDR, let runsSince else { return false }
        return now - max(lastHeard, runsSince) > patience
    }

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

    /// Ends the connection of who has not shown the token.
    private func refuse(_ now: MonotonicTime) {
        strangersLog.warning("link: \(remote ?? "a peer") is refused: it has not shown the token", now: now)
        end(.unauthorised, "this host takes only captures that were given its --link-token file")
    }

    /// False where the connection has ended over the message.
    private func take(_ message: ReceivedMessage, now: MonotonicTime) -> Bool {
        if let token {
            guard case .token(let shown) = message.body, token.matches(shown) else {
                refuse(now)
                return false
            }
            self.token = nil
            decoder.limits = LinkLimits()
            return true
        }
        switch message.body {
        case .token:
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
                isReplay = hello.role == .replay
                recording?.isLossless = isReplay
            }
            if remote != nil, !isReplay, clock == nil { clock = PeerClock() }
            source.makesIDRs.store(hello.canMakeIDR)
            source.pointerTeller.store(hello.tellsPointer)
            source.hasBothChromaFormats.store(hello.changesChroma)
            if isAttached { ingest.abilitiesChanged(of: source) }
            greeting = "\(hello.role) \(hello.name) (process \(hello.processID))"
            if isAttached { log.info("link: \(greeting) has connected") }
        case .pong(let echo):
            takePong(echo, now)
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
        assembler.add(message, at: now)
        deliver(now: now)
        return true
    }

    private func deliver(now: MonotonicTime) {
        while let assembled = assembler.next() {
            let unit = placed(assembled.accessUnit, now)
            ingest.deliver(unit, epoch: isReplay ? assembled.epoch ^ replayNumber : assembled.epoch, arrival: now)
        }
        logFaults(now)
    }

    /// The unit with its capture time on our clock, or without one.
    private func placed(_ unit: AccessUnit, _ now: MonotonicTime) -> AccessUnit {
        // A recording's times are of another day: its pictures are placed by arrival, and claim no capture time.
        if isReplay { return unit.withoutCaptureTime }
        guard remote != nil else { return unit }
        return unit.withCaptureTime(unit.captureTime.flatMap { clock?.ours($0, now: now) })
    }

    private func takePong(_ echo: ClockEcho, _ now: MonotonicTime) {
        clock?.take(echo, arrival: now)
        guard let timing = clock?.timing(now) else { return }
        source.timing = timing
        let hasJumped = clock?.hasJumped() ?? false
        let words = "\(timing.roundTrip.inMilliseconds) there and back, its clock is ours \(timing.clockOffset.signed)"
        if hasJumped {
            log.warning("link: a clock has jumped; capture is \(words)")
        } else if !hasToldClock {
            log.info("link: capture is \(words)")
        } else {
            log.debug("link: capture is \(words)")
        }
        hasToldClock = true
    }

    private func logFaults(_ now: MonotonicTime, isLast: Bool = false) {
        let faults = assembler.counters.faults
        if faults == loggedFaults || now < faultLineDue && !isLast { return }
        log.warning("link: \(faults - loggedFaults) NAL units could not be used (\(faults) in all)")
        loggedFaults = faults
        faultLineDue = now + Self.faultLinePeriod
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
        logFaults(monotonicNow(), isLast: true)
        guard isAttached else { return }
        isAttached = false
        let reason = watcher?.endReason ?? reason
        log.info("link: capture is gone: \(reason)")
        ingest.detach(source, reason: reason)
    }
}
