import CaptureLink
import Clocks
import CommandLine
import Glibc
import Ingest
import Inspection
import LinkTransport
import MediaTypes
import Recording
import Threading

/// Inspects the messages on a link, instead of a host. Accepts one connection after the other until SIGINT or SIGTERM.
///
/// Has no thread of its own; `run` blocks the calling thread.
final class LinkInspection {
    private let listener: SocketListener?
    private let token: LinkToken?
    private var connection: SocketConnection?
    private var leaving = LeavingConnections()
    private let output: InspectionOutput
    private let log = EventLog.standardError(program: Program.name)
    private let signals: Int32
    private var splitter = LinkMessageSplitter()
    private var inspection = FileInspection()
    private var start: MonotonicTime?
    private let encoder = MessageEncoder(epoch: 0)
    /// The check that the connection still has to pass: that it knows the token.
    private var check: CaptureCheck?
    /// When a connection that has sent nothing is closed, so that others get their turn. Nil once it has sent
    /// something.
    private var identificationDeadline: MonotonicTime?
    /// When to accept connections again after no descriptor was left.
    private var acceptsAgain: MonotonicTime?
    private static let identificationTimeout = Interval.seconds(8)
    private static let shortagePause = Interval.seconds(1)

    /// Listens on the address, or uses the inherited descriptor.
    ///
    /// - Parameter token: the token that peers must prove to have, or nil for none.
    init(_ link: LinkAddress, _ token: LinkToken?, _ output: InspectionOutput) throws(SocketError) {
        self.output = output
        self.token = token
        signals = signalDescriptor(for: [SIGINT, SIGTERM])
        guard signals >= 0 else { throw .system(call: "signalfd", subject: "", code: errno) }
        switch link {
        case .unix, .tcp, .tls:
            let listener = try SocketListener(at: link, token: token)
            self.listener = listener
            // If port 0 was given, this has the actual port.
            log.info("waiting for a capture or replay on \(listener.address)")
        case .descriptor:
            listener = nil
            greet(try SocketConnection.connect(to: link))
        }
    }

    deinit {
        close(signals)
    }

    /// The findings so far.
    var summary: StreamSummary { inspection.summary }
    /// Whether some bytes could not be read.
    var isDamaged: Bool { inspection.isDamaged }

    /// Shows incoming messages until the end.
    func run() {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while output.failure == nil {
            let ready = wait()
            if ready.signal { break }
            if ready.connection { read(into: &buffer) }
            if let identificationDeadline, identificationDeadline <= MonotonicTime.now() {
                log.warning("link: closed a connection that sent no message")
                endConnection()
            }
            if ready.listener { accept() }
            leaving.advance(&buffer)
            if connection == nil, listener == nil { break }
        }
        endConnection()
    }

    private func wait() -> (signal: Bool, listener: Bool, connection: Bool) {
        let wantsWrite = connection?.wantsWrite ?? false
        if let acceptsAgain, acceptsAgain <= MonotonicTime.now() { self.acceptsAgain = nil }
        // While one connection has not sent anything, others wait in the queue.
        let accepts = acceptsAgain == nil && identificationDeadline == nil
        var entries = [
            pollfd(signals),
            pollfd(accepts ? listener?.descriptor ?? -1 : -1),
            pollfd(connection?.descriptor ?? -1, wantsWrite ? POLLIN | POLLOUT : POLLIN),
        ]
        entries += leaving.entries
        output.flush()
        let deadline =
            [identificationDeadline, acceptsAgain, leaving.deadline].compactMap { $0 }.min() ?? .distantFuture
        waitForEvents(&entries, until: deadline)
        return (entries[0].isReady, entries[1].isReady, entries[2].isReady)
    }

    private func accept() {
        guard let listener else { return }
        do throws(SocketError) {
            guard let new = try listener.accept() else { return }
            if connection == nil { greet(new, isUnidentified: true) } else { refuse(new, .refused, Self.isBusy) }
        } catch {
            // Refusing a connection doesn't affect the current one. Without a free descriptor, the new one stays in the
            // queue.
            log.warning("link: \(error)")
            if case .system = error { acceptsAgain = MonotonicTime.now() + Self.shortagePause }
        }
    }

    /// Sends the hello and `resume`. Without a hello, a capture sends only units; without `resume`, no pictures.
    private func greet(_ new: SocketConnection, isUnidentified: Bool = false) {
        connection = new
        splitter = LinkMessageSplitter()
        check = isUnidentified ? LinkAdmission(token: token).check() : nil
        // A proof is small: until the peer has proved itself, allow no larger messages.
        if check != nil { splitter.limits.unit = splitter.limits.controlMessage }
        identificationDeadline = isUnidentified ? MonotonicTime.now() + Self.identificationTimeout : nil
        let hello = Hello(
            role: .host, name: "\(Program.name) inspect \(screenRelayVersion)", processID: UInt32(getpid()),
            makesKeyFrames: true)
        for message in [check?.challenge, .hello(hello), .watched].compactMap({ $0 }) {
            try? new.enqueue(header: encoder.encode(message))
        }
        if check == nil { add(.connection, at: 0, count: 0) }
    }

    private static let isBusy = "another capture is being inspected"
    private static let isUnauthorised =
        "only captures of this version that were given the --capture-key file are inspected here"

    private func refuse(_ peer: SocketConnection, _ reason: EndReason, _ text: String) {
        try? peer.enqueue(header: encoder.encode(.end(EndNotice(reason: reason, text: text))))
        leaving.add(peer)
    }

    private func read(into buffer: inout [UInt8]) {
        guard let connection else { return }
        if connection.wantsWrite { _ = try? connection.flush() }
        do throws(SocketError) {
            switch try connection.receive(into: &buffer) {
            case .wouldBlock: return
            case .closed: endConnection()
            case .bytes(let count):
                splitter.push(buffer[..<count])
                take()
            }
        } catch {
            // TCP reports that the peer is gone, but its earlier messages must still be shown.
            log.warning("link: \(error)")
            endConnection()
        }
    }

    private func take() {
        if let check, !takeProof(check) { return }
        while true {
            while let message = splitter.next() {
                let count = UInt64(message.bytes.count)
                add(.message(message, .toHost), at: splitter.offset &- count, count: count)
            }
            guard let fault = splitter.fault else { return }
            identificationDeadline = nil
            inspection.add(.link(fault))
            splitter.resumeAfterDamage()
        }
    }

    /// Returns false while the proof has not arrived; if another message arrived, ends the connection and returns false
    /// too.
    private func takeProof(_ check: CaptureCheck) -> Bool {
        let message = splitter.next()
        if message == nil, splitter.fault == nil { return false }
        if let received = try? message?.received(), let proof = check.proof(for: received.body) {
            self.check = nil
            splitter.limits = LinkLimits()
            try? connection?.enqueue(header: encoder.encode(proof))
            add(.connection, at: 0, count: 0)
            return true
        }
        log.warning("link: \(connection?.remote ?? "a peer") is refused: it has not proved that it has the capture key")
        if let connection { refuse(connection, .unauthorised, Self.isUnauthorised) }
        connection = nil
        identificationDeadline = nil
        return false
    }

    private func add(_ content: RecordedItem.Content, at offset: UInt64, count: UInt64) {
        if case .message = content { identificationDeadline = nil }
        let now = MonotonicTime.now()
        let start = start ?? now
        self.start = start
        inspection.add(RecordedItem(offset: offset, byteCount: count, arrival: now - start, content: content))
        output.show(inspection.takeRows())
    }

    private func endConnection() {
        identificationDeadline = nil
        guard let connection else { return }
        connection.close()
        self.connection = nil
        // Show nothing of a connection that was never admitted.
        guard check == nil else { return }
        splitter.finish()
        take()
        inspection.end(at: splitter.offset, hasEnd: nil)
        output.show(inspection.takeRows())
    }
}

/// Connections that were sent an end notice. If one were closed while its peer still writes, the peer would never read
/// it.
private struct LeavingConnections {
    private var all: [(connection: SocketConnection, until: MonotonicTime)] = []
    private static let timeout = Interval.seconds(1)
    private static let limit = 16

    /// When the oldest connection is closed.
    var deadline: MonotonicTime? { all.first?.until }

    /// The entries for poll(2).
    var entries: [pollfd] {
        all.map { pollfd($0.connection.descriptor) }
    }

    mutating func add(_ connection: SocketConnection) {
        shutdown(connection.descriptor, Int32(SHUT_WR))
        if all.count == Self.limit { all.removeFirst().connection.close() }
        all.append((connection, MonotonicTime.now() + Self.timeout))
    }

    /// Discards further data from the peers, and closes connections that have ended or timed out.
    mutating func advance(_ buffer: inout [UInt8]) {
        let now = MonotonicTime.now()
        all.removeAll { connection, until in
            let received = try? connection.receive(into: &buffer)
            guard until <= now || received == nil || received == .closed else { return false }
            connection.close()
            return true
        }
    }
}
