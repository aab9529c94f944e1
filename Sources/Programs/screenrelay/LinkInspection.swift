import CLinux
import CaptureLink
import CommandLine
import Glibc
import Ingest
import Inspection
import LinkTransport
import MediaTypes
import Recording
import Threading

/// Inspects what comes over a link, in a host's place: one connection after the other, until SIGINT or SIGTERM.
///
/// One thread, which calls `run`.
final class LinkInspection {
    private let listener: LinkListener?
    private let token: LinkToken?
    private var connection: LinkConnection?
    private var leaving = LeavingConnections()
    private let output: InspectionOutput
    private let log = Log(program: Program.name)
    private let signals: Int32
    private var splitter = LinkMessageSplitter()
    private var inspection = FileInspection()
    private var start: MonotonicTime?
    private let encoder = MessageEncoder(epoch: 0)
    /// What the connection has yet to prove: that it has the token.
    private var check: CaptureCheck?
    /// By when a connection must have sent something, so that others get their turn; nil once it has.
    private var strangerDeadline: MonotonicTime?
    /// Where no descriptor was left for a connection: when there may be one.
    private var acceptsAgain: MonotonicTime?
    private static let strangersPatience = Interval.seconds(8)
    private static let shortagePause = Interval.seconds(1)

    /// Listens on the address, or takes the descriptor that was handed down.
    ///
    /// - Parameter token: what who connects has to have; nil for nothing.
    init(_ link: LinkAddress, _ token: LinkToken?, _ output: InspectionOutput) throws(LinkTransportError) {
        self.output = output
        self.token = token
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGINT)
        sigaddset(&set, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signals = signalfd(-1, &set, Int32(SFD_CLOEXEC) | Int32(SFD_NONBLOCK))
        guard signals >= 0 else { throw .system(call: "signalfd", subject: "", code: errno) }
        switch link {
        case .unix, .tcp:
            let listener = try LinkListener(at: link, hasToken: token != nil)
            self.listener = listener
            // Of a port that any was asked for, the one that it is.
            log.info("waiting for a capture or replay on \(listener.address)")
        case .descriptor:
            listener = nil
            greet(try LinkConnection.connect(to: link))
        }
    }

    deinit {
        close(signals)
    }

    /// What was found so far.
    var summary: StreamSummary { inspection.summary }
    /// Whether bytes could not be read.
    var isDamaged: Bool { inspection.isDamaged }

    /// Shows what comes until the end.
    func run() {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while output.failure == nil {
            let ready = wait()
            if ready.signal { break }
            if ready.connection { read(into: &buffer) }
            if let strangerDeadline, strangerDeadline <= monotonicNow() {
                log.warning("link: a connection that says nothing is closed")
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
        if let acceptsAgain, acceptsAgain <= monotonicNow() { self.acceptsAgain = nil }
        // While one has not shown what it is, others wait in line.
        let accepts = acceptsAgain == nil && strangerDeadline == nil
        var entries = [
            pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
            pollfd(fd: accepts ? listener?.descriptor ?? -1 : -1, events: Int16(POLLIN), revents: 0),
            pollfd(
                fd: connection?.descriptor ?? -1, events: Int16(POLLIN) | (wantsWrite ? Int16(POLLOUT) : 0), revents: 0),
        ]
        entries += leaving.entries
        output.flush()
        let deadline = [strangerDeadline, acceptsAgain, leaving.deadline].compactMap { $0 }.min() ?? .distantFuture
        entries.withUnsafeMutableBufferPointer { entries in
            guard let base = entries.baseAddress else { return }
            waitForEvents(base, count: entries.count, until: deadline)
        }
        return (entries[0].revents != 0, entries[1].revents != 0, entries[2].revents != 0)
    }

    private func accept() {
        guard let listener else { return }
        do throws(LinkTransportError) {
            guard let new = try listener.accept() else { return }
            if connection == nil { greet(new, isStranger: true) } else { refuse(new, .refused, Self.isBusy) }
        } catch {
            // Somebody else's connection was refused; ours goes on. Where no descriptor is left it still waits in line.
            log.warning("link: \(error)")
            if case .system = error { acceptsAgain = monotonicNow() + Self.shortagePause }
        }
    }

    /// A capture sends no more than NAL units before it knows that a host is there, and pictures when told to.
    private func greet(_ new: LinkConnection, isStranger: Bool = false) {
        connection = new
        splitter = LinkMessageSplitter()
        check = isStranger ? LinkAdmission(token: token).check() : nil
        // A proof is small; whoever has none needs no room for more.
        if check != nil { splitter.limits.nalUnit = splitter.limits.controlMessage }
        strangerDeadline = isStranger ? monotonicNow() + Self.strangersPatience : nil
        let hello = Hello(
            role: .host, name: "\(Program.name) inspect \(screenRelayVersion)", processID: UInt32(getpid()),
            canMakeIDR: true)
        for message in [check?.challenge, .hello(hello), .resume].compactMap({ $0 }) {
            try? new.enqueue(header: encoder.encode(message))
        }
        if check == nil { add(.connection, at: 0, count: 0) }
    }

    private static let isBusy = "another capture is being inspected"
    private static let isUnauthorised =
        "only captures that were given the --link-token file, and that are of this version, are inspected here"

    private func refuse(_ peer: LinkConnection, _ reason: EndReason, _ words: String) {
        try? peer.enqueue(header: encoder.encode(.end(EndNotice(reason: reason, text: words))))
        leaving.add(peer)
    }

    private func read(into buffer: inout [UInt8]) {
        guard let connection else { return }
        if connection.wantsWrite { _ = try? connection.flush() }
        do throws(LinkTransportError) {
            switch try connection.receive(into: &buffer) {
            case .wouldBlock: return
            case .closed: endConnection()
            case .bytes(let count):
                splitter.push(buffer[..<count])
                take()
            }
        } catch {
            // A peer that is gone, as far as TCP knows: what it has sent is still to be told.
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
            strangerDeadline = nil
            inspection.add(.link(fault))
            splitter.goOn()
        }
    }

    /// False while it has not come, and where something else has: the connection is ended then.
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
        log.warning("link: \(connection?.remote ?? "a peer") is refused: it has not proved that it has the token")
        if let connection { refuse(connection, .unauthorised, Self.isUnauthorised) }
        connection = nil
        strangerDeadline = nil
        return false
    }

    private func add(_ content: RecordedItem.Content, at offset: UInt64, count: UInt64) {
        if case .message = content { strangerDeadline = nil }
        let now = monotonicNow()
        let start = start ?? now
        self.start = start
        inspection.add(RecordedItem(offset: offset, byteCount: count, arrival: now - start, content: content))
        output.show(inspection.takeRows())
    }

    private func endConnection() {
        strangerDeadline = nil
        guard let connection else { return }
        connection.close()
        self.connection = nil
        // Of one that was never let in nothing is shown.
        guard check == nil else { return }
        splitter.finish()
        take()
        inspection.end(at: splitter.offset, hasEnd: nil)
        output.show(inspection.takeRows())
    }
}

/// Connections that were told the end: one that is closed while its peer still writes never reads why.
private struct LeavingConnections {
    private var all: [(connection: LinkConnection, until: MonotonicTime)] = []
    private static let patience = Interval.seconds(1)
    private static let limit = 16

    /// When the first of them is closed.
    var deadline: MonotonicTime? { all.first?.until }

    /// What to poll for.
    var entries: [pollfd] {
        all.map { pollfd(fd: $0.connection.descriptor, events: Int16(POLLIN), revents: 0) }
    }

    mutating func add(_ connection: LinkConnection) {
        shutdown(connection.descriptor, Int32(SHUT_WR))
        if all.count == Self.limit { all.removeFirst().connection.close() }
        all.append((connection, monotonicNow() + Self.patience))
    }

    /// Lets what they still send go by, and closes those that have ended or had their time.
    mutating func advance(_ buffer: inout [UInt8]) {
        let now = monotonicNow()
        all.removeAll { connection, until in
            let received = try? connection.receive(into: &buffer)
            guard until <= now || received == nil || received == .closed else { return false }
            connection.close()
            return true
        }
    }
}
