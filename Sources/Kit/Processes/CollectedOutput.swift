import CLinux
import Glibc
import Synchronization
import Threading

/// A child's output, read to its end on a separate thread, so that the child never blocks on a full pipe.
///
/// Any thread may call any method.
public final class CollectedOutput: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var line: [UInt8] = []
        var dropped = 0
        var hasEnded = false
    }

    /// A longer line is passed on in pieces.
    private static let maxLine = 64 * 1024

    private let state = Mutex(State())
    private let limit: Int
    private let receive: (@Sendable (String) -> Void)?
    private let descriptor: Int32
    private let wake: EventFD

    /// Takes ownership of `descriptor`, even if this throws; reads it to its end and then closes it.
    init(_ descriptor: Int32, limit: Int, receive: (@Sendable (String) -> Void)?) throws(ProcessError) {
        guard let wake = EventFD() else {
            let code = errno
            close(descriptor)
            throw .noResources(what: "event descriptor", errno: code)
        }
        self.wake = wake
        self.descriptor = descriptor
        self.limit = max(0, limit)
        self.receive = receive
        guard NamedThread("child-output", body: { self.read() }) != nil else {
            close(descriptor)
            throw .noResources(what: "reader thread", errno: EAGAIN)
        }
    }

    /// The output so far, up to the limit. Bytes that are not UTF-8 are replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The output so far, up to the limit.
    public var bytes: [UInt8] { state.withLock { $0.bytes } }

    /// The number of bytes that came after the limit and were dropped.
    public var droppedBytes: Int { state.withLock { $0.dropped } }

    /// Whether the other end is closed and everything was read.
    public var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Waits at most `limit` until the other end is closed and everything was read. Returns whether that happened.
    @discardableResult
    public func waitForEnd(within limit: Duration) -> Bool {
        let deadline = ContinuousClock.now + limit
        while !hasEnded {
            if ContinuousClock.now >= deadline { return false }
            poll(nil, 0, 2)
        }
        return true
    }

    /// Stops reading, although the other end may still be open, for example in a grandchild.
    func stop() {
        wake.signal()
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            var waiting = [pollfd(descriptor), pollfd(wake.descriptor)]
            if waitForEvents(&waiting) < 0, errno != EINTR { break }
            // After a stop, read what is already in the pipe before leaving.
            if !waiting[0].isReady {
                if waiting[1].isReady { break }
                continue
            }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            if count <= 0 { break }
            take(buffer[..<count])
        }
        close(descriptor)
        let rest = state.withLock { state in
            defer { state.line = [] }
            return state.line
        }
        if !rest.isEmpty { receive?(String(decoding: rest, as: UTF8.self)) }
        state.withLock { $0.hasEnded = true }
    }

    private func take(_ chunk: ArraySlice<UInt8>) {
        var lines: [String] = []
        state.withLock { state in
            let kept = min(chunk.count, limit - state.bytes.count)
            state.bytes += chunk.prefix(kept)
            state.dropped += chunk.count - kept
            guard receive != nil else { return }
            for byte in chunk {
                if byte == UInt8(ascii: "\n") || state.line.count >= Self.maxLine {
                    lines.append(String(decoding: state.line, as: UTF8.self))
                    state.line.removeAll(keepingCapacity: true)
                }
                if byte != UInt8(ascii: "\n") { state.line.append(byte) }
            }
        }
        // Outside the lock, so that the receiver may read `text`.
        for line in lines { receive?(line) }
    }
}
