import CLinux
import CaptureLink
import Clocks
import Glibc
import LinkTransport
import MediaTypes
import Replaying
import Threading

/// The connection to a replay's host: introduces the replay, sends its messages, and reads the host's answers.
final class ReplayOutlet {
    /// The size of a batch in bytes. A message that doesn't fit into the batch is written without copying its payload.
    static let gathered = 64 << 10

    private let connection: SocketConnection
    private var decoder = MessageDecoder()
    private var buffer = [UInt8](repeating: 0, count: 4096)
    private var batch: [UInt8] = []
    /// The rest of a large message. It is written in pieces, because bytes that the host doesn't accept at once are
    /// copied.
    private var rest: ArraySlice<UInt8> = []
    private static let piece = 256 << 10
    // The epoch of our own hello and end, which must not be one of the recording's.
    private let encoder = MessageEncoder(epoch: UInt64.random(in: 1 ... .max))
    /// Whether the host's hello has arrived. A host that sends none may treat every message as a unit of a picture.
    private var hasHello = false
    /// Whether the replay may begin: the host has sent its hello, and proved that it knows the token.
    var isGreeted: Bool { hasHello && check == nil }
    /// Why the host accepts no more messages. Nil while it accepts them.
    private(set) var ending: Ending?
    /// The number of recorded messages that were sent or are in the batch, and their bytes with headers.
    private(set) var messages: UInt64 = 0
    private(set) var bytes: UInt64 = 0

    /// Why the host takes no more messages.
    struct Ending {
        let text: String
        /// The reason that the host gave, or nil if it only closed the connection.
        var reason: EndReason?
        /// Whether host and replay have different tokens.
        var isUnauthorised: Bool { reason == .unauthorised }
    }

    /// The check that the host knows the replay's token. Nil when it is done or not needed.
    private var check: HostCheck?

    init(_ connection: SocketConnection, token: LinkToken?) {
        self.connection = connection
        var generator = SystemRandomNumberGenerator()
        check = token.map { HostCheck(token: $0.bytes, nonce: LinkProof.nonce(using: &generator)) }
        batch.reserveCapacity(2 * Self.gathered)
    }

    var descriptor: Int32 { connection.descriptor }
    /// Whether the host has not yet accepted all written data.
    var isBlocked: Bool { connection.wantsWrite || !rest.isEmpty }

    /// Adds one message to the batch, or writes it. Must not be called while blocked, so that at most one message is in
    /// memory.
    func send(_ step: ReplayStep) throws(SocketError) {
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

    /// Writes the rest of a large message, and then the batch.
    func write() throws(SocketError) {
        while !rest.isEmpty {
            if connection.wantsWrite { return }
            try writePiece()
        }
        if batch.isEmpty { return }
        defer { batch.removeAll(keepingCapacity: true) }
        try connection.enqueue(header: batch)
    }

    /// Writes as much pending data as the host accepts.
    func flush() throws(SocketError) {
        try connection.flush()
        try write()
    }

    /// Writes a piece of a large message, after the batch `gathered` before it.
    private func writePiece(behind gathered: [UInt8] = []) throws(SocketError) {
        let piece = rest.prefix(Self.piece)
        let written = piece.withUnsafeBytes { bytes in
            Result { () throws(SocketError) in try connection.enqueue(header: gathered, payload: bytes) }
        }
        if !gathered.isEmpty { batch.removeAll(keepingCapacity: true) }
        rest = rest.dropFirst(piece.count)
        // An empty slice would keep the whole message in memory.
        if rest.isEmpty { rest = [] }
        try written.get()
    }

    /// Introduces us as a replay: its times are not this machine's, and it can't make pictures on request.
    func greet(tellsPointer: Bool) throws(SocketError) {
        let hello = Hello(
            role: .replay, name: "screenrelay replay \(screenRelayVersion)", processID: UInt32(clamping: getpid()),
            makesKeyFrames: false, tellsPointer: tellsPointer)
        batch += encoder.encode(.hello(hello))
        try write()
    }

    /// Reads the host's messages. A replay can't follow a host's requests to a capture, and ignores them.
    func receive() {
        do {
            while ending == nil {
                switch try connection.receive(into: &buffer) {
                case .bytes(let count): decoder.push(buffer[..<count])
                case .wouldBlock: return
                case .closed: ending = Ending(text: "the host has closed the capture link")
                }
                while let message = try decoder.next() {
                    try prove(message.body)
                    if case .hello(let hello) = message.body, hello.role == .host { hasHello = true }
                    if case .end(let notice) = message.body {
                        ending = Ending(
                            text: notice.text.isEmpty ? "the host has ended the capture link" : notice.text,
                            reason: notice.reason)
                    }
                }
            }
        } catch let error as LinkError where error.isTLS {
            ending = Ending(text: SocketError.hostEncrypts.description, reason: .unauthorised)
        } catch {
            ending = Ending(text: "\(error)")
        }
    }

    /// Handles the messages that prove the token.
    private func prove(_ message: LinkMessage) throws(SocketError) {
        guard var check else {
            if case .challenge = message { ending = Ending(text: HostCheck.refusal, reason: .unauthorised) }
            return
        }
        let step = check.take(message)
        self.check = check
        switch step {
        case .answer(let answer): try connection.enqueue(header: encoder.encode(answer))
        case .proven: self.check = nil
        case .failed(let failure): ending = Ending(text: failure.text, reason: .unauthorised)
        case .other: break
        }
    }

    /// Sends the end notice, and waits at most `timeout` until the host has read everything.
    func finish(_ reason: EndReason, _ text: String, within timeout: Interval) {
        let deadline = MonotonicTime.now() + timeout
        do throws(SocketError) {
            batch += encoder.encode(.end(EndNotice(reason: reason, text: text)))
            try write()
            var isShut = false
            while ending == nil, MonotonicTime.now() < deadline {
                if !isBlocked, !isShut {
                    shutdown(descriptor, Int32(SHUT_WR))
                    isShut = true
                }
                let events = isBlocked ? POLLIN | POLLOUT : POLLIN
                let found = waitForEvents(on: descriptor, events, until: .now() + .milliseconds(50))
                if found & POLLOUT != 0 { try flush() }
                if found & ~POLLOUT != 0 { receive() }
            }
        } catch {
            receive()
        }
        connection.close()
    }
}
