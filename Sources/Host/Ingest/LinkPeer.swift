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

    /// Whether it has not yet shown what it is.
    private(set) var isStranger = true
    /// Whether the connection has ended.
    private(set) var isOver = false

    init(
        _ connection: LinkConnection, ingest: TrackIngest, hostName: String, wake: WakeUp, recorder: LinkRecorder?,
        log: EventLog
    ) {
        self.connection = connection
        self.ingest = ingest
        self.log = log
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
        return [assembler.nextDeadline, faultLine].compactMap { $0 }.min()
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
                decoder.push(buffer[..<count])
                recording?.push(buffer[..<count])
                // Also what is behind a message that ends the connection: it came, and may be the fault that is looked for.
                defer { recording?.record(at: now) }
                assembler.bytesArrived(at: now)
                while let message = try decoder.next() {
                    guard take(message, now: now) else { return }
                }
                deliver(now: now)
            }
        } catch let error as LinkError {
            deliver(now: now)
            if case .endedInsideMessage = error {
                // Reported and nothing more: the peer may just have died.
                log.warning("link: \(error)")
                reason = "\(error)"
                finish()
            } else {
                log.error("link: \(error); the connection is ended")
                end(.protocolError, "\(error)")
            }
        } catch {
            log.warning("link: \(error)")
            reason = "\(error)"
            finish()
        }
    }

    /// Does what the time and the host ask for.
    func advance(now: MonotonicTime) {
        guard !isOver else { return }
        if let closesBy {
            if closesBy <= now { finish() }
            return
        }
        if let deadline = assembler.nextDeadline, deadline <= now {
            assembler.timeout(now)
            deliver(now: now)
        }
        logFaults(now)
        for message in source.takeMessages() where decoder.form == .extended {
            if message == .resume, runsSince == nil { runsSince = now }
            if message == .pause { runsSince = nil }
            send(message)
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

    /// False where the connection has ended over the message.
    private func take(_ message: ReceivedMessage, now: MonotonicTime) -> Bool {
        switch message.body {
        case .hello(let hello):
            guard hello.version >= 1 else {
                end(.versionMismatch, "this host speaks version \(Hello.currentVersion) of the link")
                return false
            }
            guard hello.role != .host else {
                end(.protocolError, "two hosts can't be linked to each other")
                return false
            }
            isReplay = hello.role == .replay
            recording?.isLossless = isReplay
            source.makesIDRs.store(hello.canMakeIDR)
            source.pointerTeller.store(hello.tellsPointer)
            source.hasBothChromaFormats.store(hello.changesChroma)
            if isAttached { ingest.abilitiesChanged(of: source) }
            greeting = "\(hello.role) \(hello.name) (process \(hello.processID))"
            if isAttached { log.info("link: \(greeting) has connected") }
        case .end(let notice):
            reason = notice.text.isEmpty ? "\(notice.reason)" : notice.text
        case .size(let size):
            log.info("link: pictures of \(size)")
        case .statistics(let done):
            log.debug(
                "link: capture has made \(done.pictures) pictures, \(done.idrPictures) of them IDR, in \(done.bytes) bytes; "
                    + "\(done.residentBytes) bytes resident")
        default:
            break
        }
        if isStranger {
            isStranger = false
            isAttached = ingest.attach(source) || makesRoom(now) && ingest.attach(source)
            guard isAttached else {
                end(.refused, "another capture is connected to this host")
                return false
            }
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
            // A recording's times are of another day: its pictures are placed by arrival, and claim no capture time.
            let unit = isReplay ? assembled.accessUnit.withoutCaptureTime : assembled.accessUnit
            ingest.deliver(unit, epoch: isReplay ? assembled.epoch ^ replayNumber : assembled.epoch, arrival: now)
        }
        logFaults(now)
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
        log.info("link: capture is gone: \(reason)")
        ingest.detach(source, reason: reason)
    }
}
