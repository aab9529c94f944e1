import CLinux
import CaptureLink
import Glibc
import LinkTransport
import MediaTypes
import Replaying
import Threading

/// The host's end of a replay: introduces the replay, takes its messages, and hears whether the host still wants them.
final class ReplayOutlet {
    /// So many bytes are gathered before they are written, and above that a payload is written from where it is.
    static let gathered = 64 << 10

    private let connection: LinkConnection
    private var decoder = MessageDecoder()
    private var buffer = [UInt8](repeating: 0, count: 4096)
    private var batch: [UInt8] = []
    /// What follows what was written: written from where it is, in pieces, since what the host doesn't take at once is copied.
    private var rest: ArraySlice<UInt8> = []
    private static let piece = 256 << 10
    // Its hello and end belong to no epoch of the recording.
    private let encoder = MessageEncoder(epoch: UInt64.random(in: 1 ... .max))
    /// Whether the host has said hello: before that it may be one that takes every message for a NAL unit.
    private var hasHello = false
    /// Whether the host may be told what is replayed: it has said hello, and proved that it has the token.
    var isGreeted: Bool { hasHello && check == nil }
    /// Why the host takes no more; nil while it does.
    private(set) var ending: Ending?
    /// Messages of the recording that were written or gathered, and their bytes with headers.
    private(set) var messages: UInt64 = 0
    private(set) var bytes: UInt64 = 0

    /// Why the host takes no more.
    struct Ending {
        let words: String
        /// The reason that it gave itself; nil where it has only gone.
        var reason: EndReason?
        /// It doesn't have the same token.
        var isUnauthorised: Bool { reason == .unauthorised }
    }

    /// The proof that the host has the same token; nil where it is done, or none is wanted.
    private var check: HostCheck?

    init(_ connection: LinkConnection, token: LinkToken?) {
        self.connection = connection
        var generator = SystemRandomNumberGenerator()
        check = token.map { HostCheck(token: $0.bytes, nonce: LinkProof.nonce(using: &generator)) }
        batch.reserveCapacity(2 * Self.gathered)
    }

    var descriptor: Int32 { connection.descriptor }
    /// Whether the host has yet to take what was written.
    var isBlocked: Bool { connection.wantsWrite || !rest.isEmpty }

    /// Gathers or writes one message. Only to be called while not blocked, so that at most one message waits in memory.
    func send(_ step: ReplayStep) throws(LinkTransportError) {
        let count = step.front.count + step.body.count
        messages &+= 1
        bytes &+= UInt64(count)
        let isGathered = batch.count + count <= Self.gathered
        batch += step.front
        if isGathered {
            batch += step.body
        } else {
            rest = step.body
            try writePiece(behind: batch)
            try write()
        }
    }

    /// Writes what was gathered, behind what is still to be written of a large message.
    func write() throws(LinkTransportError) {
        while !rest.isEmpty {
            if connection.wantsWrite { return }
            try writePiece()
        }
        if batch.isEmpty { return }
        defer { batch.removeAll(keepingCapacity: true) }
        try connection.enqueue(header: batch)
    }

    /// Writes what waits for the host, as far as it takes it.
    func flush() throws(LinkTransportError) {
        try connection.flush()
        try write()
    }

    /// Writes some of a large message, behind what was `gathered` before it.
    private func writePiece(behind gathered: [UInt8] = []) throws(LinkTransportError) {
        let piece = rest.prefix(Self.piece)
        let written = piece.withUnsafeBytes { bytes in
            Result { () throws(LinkTransportError) in try connection.enqueue(header: gathered, payload: bytes) }
        }
        if !gathered.isEmpty { batch.removeAll(keepingCapacity: true) }
        rest = rest.dropFirst(piece.count)
        // An empty slice would keep all of the message.
        if rest.isEmpty { rest = [] }
        try written.get()
    }

    /// Says who we are: a replay, whose times are not this machine's, and that makes nothing to order.
    func greet(tellsPointer: Bool) throws(LinkTransportError) {
        let hello = Hello(
            role: .replay, name: "screenrelay replay \(screenRelayVersion)", processID: UInt32(clamping: getpid()),
            canMakeIDR: false, tellsPointer: tellsPointer)
        batch += encoder.encode(.hello(hello))
        try write()
    }

    /// Reads what the host has sent. What it asks of a capture can't be met, and is passed over.
    func receive() {
        do {
            while ending == nil {
                switch try connection.receive(into: &buffer) {
                case .bytes(let count): decoder.push(buffer[..<count])
                case .wouldBlock: return
                case .closed: ending = Ending(words: "the host has closed the link")
                }
                while let message = try decoder.next() {
                    try prove(message.body)
                    if case .hello(let hello) = message.body, hello.role == .host { hasHello = true }
                    if case .end(let notice) = message.body {
                        ending = Ending(
                            words: notice.text.isEmpty ? "the host has ended the link" : notice.text,
                            reason: notice.reason)
                    }
                }
            }
        } catch {
            ending = Ending(words: "\(error)")
        }
    }

    /// Does what a message means for the proof of the token.
    private func prove(_ message: LinkMessage) throws(LinkTransportError) {
        guard var check else {
            if case .challenge = message { ending = Ending(words: HostCheck.refusal, reason: .unauthorised) }
            return
        }
        let step = check.take(message)
        self.check = check
        switch step {
        case .answer(let answer): try connection.enqueue(header: encoder.encode(answer))
        case .proven: self.check = nil
        case .failed(let failure): ending = Ending(words: failure.words, reason: .unauthorised)
        case .other: break
        }
    }

    /// Says that nothing follows, and waits until the host has read it all, at most so long.
    func finish(_ reason: EndReason, _ text: String, within patience: Interval) {
        let deadline = monotonicNow() + patience
        do throws(LinkTransportError) {
            batch += encoder.encode(.end(EndNotice(reason: reason, text: text)))
            try write()
            var isShut = false
            while ending == nil, monotonicNow() < deadline {
                if !isBlocked, !isShut {
                    shutdown(descriptor, Int32(SHUT_WR))
                    isShut = true
                }
                let events = isBlocked ? POLLIN | POLLOUT : POLLIN
                var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
                poll(&entry, 1, 50)
                if Int32(entry.revents) & POLLOUT != 0 { try flush() }
                if Int32(entry.revents) & ~POLLOUT != 0 { receive() }
            }
        } catch {
            receive()
        }
        connection.close()
    }
}
