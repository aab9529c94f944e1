import CLinux
import CaptureLink
import CommandLine
import Glibc
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
    private var connection: LinkConnection?
    private let output: InspectionOutput
    private let signals: Int32
    private var splitter = LinkMessageSplitter()
    private var inspection = FileInspection()
    private var start: MonotonicTime?
    private let encoder = MessageEncoder(epoch: 0)

    /// Listens on the address, or takes the descriptor that was handed down.
    init(_ link: LinkAddress, _ output: InspectionOutput) throws(LinkTransportError) {
        self.output = output
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGINT)
        sigaddset(&set, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signals = signalfd(-1, &set, Int32(SFD_CLOEXEC) | Int32(SFD_NONBLOCK))
        guard signals >= 0 else { throw .system(call: "signalfd", subject: "", code: errno) }
        switch link {
        case .unix, .tcp:
            listener = try LinkListener(at: link)
            Log(program: Program.name).info("waiting for a capture or replay on \(link)")
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
    func run() throws(LinkTransportError) {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while output.failure == nil {
            let ready = poll()
            if ready.signal { break }
            if ready.connection { try read(into: &buffer) }
            if ready.listener, let listener {
                // Somebody else's connection was refused; ours goes on.
                if let new = try? listener.accept() {
                    if connection == nil { greet(new) } else { refuse(new) }
                }
            }
            if connection == nil, listener == nil { break }
        }
        endConnection()
    }

    private func poll() -> (signal: Bool, listener: Bool, connection: Bool) {
        let wantsWrite = connection?.wantsWrite ?? false
        var entries = [
            pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
            pollfd(fd: listener?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(
                fd: connection?.descriptor ?? -1, events: Int16(POLLIN) | (wantsWrite ? Int16(POLLOUT) : 0), revents: 0),
        ]
        output.flush()
        _ = Glibc.poll(&entries, nfds_t(entries.count), -1)
        return (entries[0].revents != 0, entries[1].revents != 0, entries[2].revents != 0)
    }

    /// A capture sends no more than NAL units before it knows that a host is there, and pictures when told to.
    private func greet(_ new: LinkConnection) {
        connection = new
        splitter = LinkMessageSplitter()
        let hello = Hello(
            role: .host, name: "\(Program.name) inspect \(screenRelayVersion)", processID: UInt32(getpid()),
            canMakeIDR: true)
        for message in [LinkMessage.hello(hello), .resume] {
            try? new.enqueue(header: encoder.encode(message))
        }
        add(.connection, at: 0, count: 0)
    }

    private func refuse(_ new: LinkConnection) {
        let words = "another capture is being inspected"
        try? new.enqueue(header: encoder.encode(.end(EndNotice(reason: .refused, text: words))))
        new.close()
    }

    private func read(into buffer: inout [UInt8]) throws(LinkTransportError) {
        guard let connection else { return }
        if connection.wantsWrite { _ = try? connection.flush() }
        switch try connection.receive(into: &buffer) {
        case .wouldBlock: return
        case .closed: endConnection()
        case .bytes(let count):
            splitter.push(buffer[..<count])
            take()
        }
    }

    private func take() {
        while true {
            while let message = splitter.next() {
                let count = UInt64(message.bytes.count)
                add(.message(message, .toHost), at: splitter.offset &- count, count: count)
            }
            guard let fault = splitter.fault else { return }
            inspection.add(.link(fault))
            splitter.goOn()
        }
    }

    private func add(_ content: RecordedItem.Content, at offset: UInt64, count: UInt64) {
        let now = monotonicNow()
        let start = start ?? now
        self.start = start
        inspection.add(RecordedItem(offset: offset, byteCount: count, arrival: now - start, content: content))
        output.show(inspection.takeRows())
    }

    private func endConnection() {
        guard let connection else { return }
        splitter.finish()
        take()
        connection.close()
        self.connection = nil
        inspection.end(at: splitter.offset, hasEnd: nil)
        output.show(inspection.takeRows())
    }
}
