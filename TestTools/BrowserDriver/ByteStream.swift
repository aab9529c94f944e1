import Glibc

/// Carries a browser's messages, each a JSON object.
protocol MessageChannel {
    /// Sends one message. Throws `gone` if the browser has ended, or `deadlineMissed` if it doesn't read.
    func send(_ message: [UInt8], until deadline: ContinuousClock.Instant) throws(BrowserError)

    /// Receives the next message; returns nil if none came before `deadline`. Throws `gone` if the browser has ended.
    func receive(until deadline: ContinuousClock.Instant) throws(BrowserError) -> [UInt8]?
}

/// The bytes to and from a browser.
///
/// Use it from one thread at a time. Its descriptors are closed with the last reference.
final class ByteStream {
    /// The bytes that have arrived. The owner removes those that it has handled.
    var received: [UInt8] = []

    private let reading: Int32
    private let writing: Int32

    /// The longest message: a screenshot of a large page has some MiB, so more than this is a fault.
    private static let maxMessage = 256 << 20

    /// Takes over two descriptors, or twice the same one.
    init(reading: Int32, writing: Int32) {
        self.reading = reading
        self.writing = writing
        _ = fcntl(writing, F_SETFL, O_NONBLOCK)
        // A browser that has ended shows as EPIPE from write, not as a signal to us.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Connects to a port of 127.0.0.1. Throws `notStarted`.
    convenience init(port: UInt16) throws(BrowserError) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) == 0 }
        }
        guard isConnected else {
            let reason = String(cString: strerror(errno))
            close(descriptor)
            throw .notStarted("no connection to port \(port): \(reason)")
        }
        self.init(reading: descriptor, writing: descriptor)
    }

    deinit {
        close(reading)
        if writing != reading { close(writing) }
    }

    /// Writes all of `bytes`. Throws as `MessageChannel.send`.
    func send(_ bytes: [UInt8], until deadline: ContinuousClock.Instant) throws(BrowserError) {
        var rest = bytes[...]
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

    /// Waits for more bytes; returns false if none came before `deadline`. Throws `gone` if the browser has ended.
    func receive(until deadline: ContinuousClock.Instant) throws(BrowserError) -> Bool {
        guard received.count <= Self.maxMessage else { throw .unexpectedAnswer("a message over 256 MiB") }
        while wait(for: reading, POLLIN, until: deadline) {
            var buffer = [UInt8](repeating: 0, count: 64 * 1024)
            let count = read(reading, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { throw .gone("") }
            received += buffer[..<count]
            return true
        }
        return false
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
}
