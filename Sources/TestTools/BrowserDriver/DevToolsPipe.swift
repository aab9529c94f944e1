import CLinux
import FoundationEssentials
import Glibc

/// The two pipes of `--remote-debugging-pipe`, which carry JSON objects with a NUL character after each.
///
///     we ─── pipe ──▶ browser's descriptor 3      {"id":1,"method":"Page.enable","params":{}}\0
///     we ◀── pipe ─── browser's descriptor 4      {"id":1,"result":{}}\0{"method":"Page.loadEventFired",...}\0
///
/// Use it from one thread at a time. Both ends are closed with the last reference.
final class DevToolsPipe {
    /// The ends that the browser gets as its descriptors 3 and 4; ours to close once the browser has them.
    private(set) var browsersEnds: (reading: Int32, writing: Int32)
    private let reading: Int32
    private let writing: Int32
    private var received: [UInt8] = []
    /// The number of bytes at the start of `received` that are known to have no NUL character.
    private var searched = 0

    /// The longest message: a screenshot of a large page has some MiB, so more than this is a fault.
    private static let maxMessage = 256 << 20

    init() throws(BrowserError) {
        var commands: [Int32] = [-1, -1]
        var answers: [Int32] = [-1, -1]
        guard pipe2(&commands, O_CLOEXEC) == 0 else { throw .notStarted("no pipe: \(Self.text(of: errno))") }
        guard pipe2(&answers, O_CLOEXEC) == 0 else {
            let reason = Self.text(of: errno)
            for end in commands { close(end) }
            throw .notStarted("no pipe: \(reason)")
        }
        browsersEnds = (commands[0], answers[1])
        writing = commands[1]
        reading = answers[0]
        _ = fcntl(writing, F_SETFL, O_NONBLOCK)
        // A browser that has ended shows as EPIPE from write, not as a signal to us.
        signal(SIGPIPE, SIG_IGN)
    }

    deinit {
        closeBrowsersEnds()
        close(reading)
        close(writing)
    }

    /// Closes our copies of the browser's ends, so that the end of the browser shows as the end of the stream.
    func closeBrowsersEnds() {
        if browsersEnds.reading >= 0 { close(browsersEnds.reading) }
        if browsersEnds.writing >= 0 { close(browsersEnds.writing) }
        browsersEnds = (-1, -1)
    }

    /// Sends one message.
    func send(_ message: JSONValue, until deadline: ContinuousClock.Instant) throws(BrowserError) {
        guard let encoded = try? JSONEncoder().encode(message) else { throw .unexpectedAnswer("unsendable message") }
        var rest = ([UInt8](encoded) + [0])[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(writing, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                guard wait(for: writing, POLLOUT, until: deadline) else { throw .deadlineMissed("reading a command") }
            } else if errno != EINTR {
                throw .gone("")
            }
        }
    }

    /// Receives the next message; returns nil if none came before `deadline`.
    func receive(until deadline: ContinuousClock.Instant) throws(BrowserError) -> JSONValue? {
        while true {
            if let end = received[searched...].firstIndex(of: 0) {
                let message = received[..<end]
                defer {
                    received.removeSubrange(...end)
                    searched = 0
                }
                guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(message)) else {
                    throw .unexpectedAnswer("not JSON: \(String(decoding: message.prefix(200), as: UTF8.self))")
                }
                return value
            }
            searched = received.count
            guard searched <= Self.maxMessage else { throw .unexpectedAnswer("a message over 256 MiB") }
            guard wait(for: reading, POLLIN, until: deadline) else { return nil }
            var buffer = [UInt8](repeating: 0, count: 64 * 1024)
            let count = read(reading, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .gone("") }
            received += buffer[..<count]
        }
    }

    private func wait(for descriptor: Int32, _ events: Int32, until deadline: ContinuousClock.Instant) -> Bool {
        while true {
            let (seconds, attoseconds) = (deadline - ContinuousClock.now).components
            let left = seconds * 1000 + attoseconds / 1_000_000_000_000_000
            var waiting = pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: events), revents: 0)
            let count = poll(&waiting, 1, Int32(clamping: max(0, left)))
            if count > 0 { return true }
            if count == 0, ContinuousClock.now >= deadline { return false }
        }
    }

    private static func text(of code: Int32) -> String {
        String(cString: strerror(code))
    }
}
