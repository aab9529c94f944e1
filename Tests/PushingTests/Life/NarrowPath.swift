import Glibc
import MediaTypes
import TestSupport

/// A UDP path between one sender and a port of 127.0.0.1, with a rate limit in the sender's direction. Datagrams that
/// don't fit into its queue are lost. It forwards only during calls of ``pump()``.
final class NarrowPath {
    /// The port of 127.0.0.1 where the sender finds it.
    let port: UInt16
    /// Nil for no limit.
    var rate: BitRate?
    /// The datagrams of the sender that were passed on, and those that were lost.
    private(set) var passed = 0
    private(set) var lost = 0

    /// The longest that a datagram waits in the queue.
    private static let queue = Interval.milliseconds(200)
    private let near: Int32
    private let far: Int32
    private var sender: sockaddr_in?
    private var waiting: [(due: MonotonicTime, bytes: [UInt8])] = []

    /// A path to a port of 127.0.0.1.
    init(to port: UInt16) throws {
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        near = socket(AF_INET, type, 0)
        far = socket(AF_INET, type, 0)
        self.port = try bindToLoopback(near)
        var target = loopbackAddress(port: port)
        let connected = withUnsafeMutablePointer(to: &target) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(far, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw FileError(path: "a path", errno: errno) }
    }

    deinit {
        close(near)
        close(far)
    }

    /// Passes on what has come, and what has waited for long enough.
    func pump() {
        let now = now()
        while let bytes = receive() {
            var due = max(now, waiting.last?.due ?? now)
            if let rate {
                due = due + Interval(nanoseconds: Int64(bytes.count) * 8_000_000_000 / Int64(rate.bitsPerSecond))
            }
            if due - now > Self.queue { lost += 1 } else { waiting.append((due, bytes)) }
        }
        let ready = waiting.prefix { $0.due <= now }
        for datagram in ready { send(far, datagram.bytes, datagram.bytes.count, 0) }
        passed += ready.count
        waiting.removeFirst(ready.count)
        var buffer = [UInt8](repeating: 0, count: 2048)
        while true {
            let count = recv(far, &buffer, buffer.count, 0)
            guard count >= 0 else { break }
            answer(buffer, count)
        }
    }

    /// A datagram of the sender's.
    private func receive() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 2048)
        var from = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = withUnsafeMutablePointer(to: &from) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                recvfrom(near, &buffer, buffer.count, 0, $0, &length)
            }
        }
        guard count >= 0 else { return nil }
        sender = from
        return Array(buffer.prefix(count))
    }

    private func answer(_ bytes: [UInt8], _ count: Int) {
        guard var sender else { return }
        _ = withUnsafeMutablePointer(to: &sender) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(near, bytes, count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
