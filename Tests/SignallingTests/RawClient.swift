import Glibc
import Signalling
import TestSupport

/// A TCP connection to a server on this machine that sends and shows the very bytes.
final class RawClient {
    struct Failure: Error {
        let what: String
    }

    private let descriptor: Int32
    /// What has come and was not taken yet.
    private(set) var received: [UInt8] = []
    /// Whether the server has closed, by an end or a reset.
    private(set) var isAtEnd = false

    /// Connects to `port`.
    ///
    /// - Parameter takesLittle: keeps the kernel's buffer for what the server sends small. That must be said before the
    ///   connection is made: of a window that shrinks later, the kernel fills a little at each tick of a timer that
    ///   slows down while nothing is read.
    init(port: UInt16, takesLittle: Bool = false) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if takesLittle {
            var size: Int32 = 4096
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = loopbackAddress(port: port)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard descriptor >= 0, result == 0 else { throw Failure(what: "connect: \(String(cString: strerror(errno)))") }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit {
        close(descriptor)
    }

    /// Sends all of `bytes`, waiting for room; false when the server has closed meanwhile.
    @discardableResult
    func send(_ bytes: [UInt8]) throws -> Bool {
        var sent = 0
        return try eventually("the server to read") {
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
                }
                let failure = errno
                if count > 0 {
                    sent += count
                    continue
                }
                read()
                if isAtEnd || failure != EAGAIN { return false }
                return nil
            }
            return true
        }
    }

    @discardableResult
    func send(_ text: String) throws -> Bool {
        try send(Array(text.utf8))
    }

    /// Reads what is there, or comes within 20 ms.
    func read() {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        poll(&waiting, 1, 20)
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while !isAtEnd {
            let count = recv(descriptor, &chunk, chunk.count, 0)
            if count > 0 {
                received += chunk.prefix(count)
            } else if count == 0 || errno != EAGAIN {
                isAtEnd = true
            } else {
                return
            }
        }
    }

    /// The first `count` bytes when they have come, which stay unread.
    func peek(_ count: Int) throws -> String {
        try eventually("\(count) bytes") {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            poll(&waiting, 1, 20)
            var bytes = [UInt8](repeating: 0, count: count)
            guard recv(descriptor, &bytes, count, Int32(MSG_PEEK)) == count else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Ends our direction, as the network does for a client that has vanished.
    func endSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Vanishes, and waits until the server has closed.
    func breakOff() throws {
        endSending()
        try waitForEnd()
    }

    /// Waits until the server has closed.
    func waitForEnd() throws {
        try eventually("the server to close") {
            read()
            return isAtEnd
        }
    }

    /// Takes the first `count` bytes when they have come.
    func take(_ count: Int) throws -> [UInt8] {
        try eventually("\(count) bytes, of which \(received.count) came") {
            if received.count < count { read() }
            guard received.count >= count else {
                if isAtEnd { throw Failure(what: "closed after \(received.count) bytes") }
                return nil
            }
            defer { received.removeFirst(count) }
            return Array(received.prefix(count))
        }
    }

    /// Takes bytes up to and with `end`.
    func take(through end: String) throws -> String {
        let mark = Array(end.utf8)
        return try eventually("\(end.debugDescription)") {
            if received.firstRange(of: mark) == nil { read() }
            if let range = received.firstRange(of: mark) {
                defer { received.removeFirst(range.upperBound) }
                return String(decoding: received[..<range.upperBound], as: UTF8.self)
            }
            if isAtEnd { throw Failure(what: "closed after: \(String(decoding: received, as: UTF8.self))") }
            return nil
        }
    }
}

/// An answer as it came.
struct RawResponse: Equatable {
    let status: Int
    /// The reason phrase.
    let reason: String
    /// By name in lower case.
    let headers: [String: String]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    /// Without what changes from one answer to the next.
    var timeless: RawResponse {
        RawResponse(status: status, reason: reason, headers: headers.filter { $0.key != "date" }, body: body)
    }
}

extension RawClient {
    /// Sends a request, with `Host` unless `headers` has one, and waits for its answer.
    func request(
        _ method: String, _ path: String, host: String = "127.0.0.1", _ headers: [String: String] = [:],
        body: String? = nil
    ) throws -> RawResponse {
        var text = "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        if let body { text += "Content-Length: \(body.utf8.count)\r\n" }
        try send(text + "\r\n" + (body ?? ""))
        return try response(hasBody: method != "HEAD")
    }

    /// Waits for one answer.
    func response(hasBody: Bool = true) throws -> RawResponse {
        let head = try take(through: "\r\n\r\n")
        let lines = head.split(separator: "\r\n")
        let words = lines.first?.split(separator: " ", maxSplits: 2).dropFirst().map(String.init) ?? []
        let status = words.first.flatMap { Int($0) } ?? 0
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
        }
        let length = hasBody ? Int(headers["content-length"] ?? "0") ?? 0 : 0
        return RawResponse(
            status: status, reason: words.count > 1 ? words[1] : "", headers: headers, body: try take(length))
    }
}
