import CLinux
import Clocks
import Glibc
import MediaTypes
import Threading

/// Serves one page on loopback, and receives one report from it. On one thread, and only while `report` waits.
///
/// Browsers open connections ahead and send nothing on some of them, so several are served at once.
final class PageServer {
    /// The port that the system chose.
    let port: UInt16
    private let listener: Int32
    private let path: String
    private let page: [UInt8]
    private var exchanges: [Exchange] = []

    private struct Exchange {
        var socket: Int32
        var request: [UInt8] = []
    }

    private static let maxExchanges = 16
    /// The most bytes of a request, its head and its body together.
    private static let maxRequestByteCount = 16 * 1024

    /// Listens on a port of 127.0.0.1; nil if the system refuses, with the reason in `errno`.
    ///
    /// - Parameter path: where the page is, and where it sends its report.
    init?(path: String, page: String) {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let listener = socket(AF_INET, type, 0)
        guard listener >= 0 else { return nil }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isBound else {
            let reason = errno
            close(listener)
            errno = reason
            return nil
        }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        self.path = path
        self.page = Array(page.utf8)
    }

    deinit {
        for exchange in exchanges { close(exchange.socket) }
        close(listener)
    }

    /// The report of the page, as text; nil if none has arrived by `deadline`.
    func report(until deadline: MonotonicTime) -> String? {
        while MonotonicTime.now() < deadline {
            var entries = [pollfd(listener)] + exchanges.map { pollfd($0.socket) }
            waitForEvents(&entries, until: deadline)
            // From the last on, so that indices stay right.
            for index in (1..<entries.count).reversed() where entries[index].isReady {
                if let report = advance(index - 1) { return report }
            }
            if entries[0].isReady { accept() }
        }
        return nil
    }

    private func accept() {
        let flags = Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let socket = accept4(listener, nil, nil, flags)
        guard socket >= 0 else { return }
        exchanges.append(Exchange(socket: socket))
        if exchanges.count > Self.maxExchanges { close(exchanges.removeFirst().socket) }
    }

    /// Reads from a connection, and answers a whole request. Returns a report.
    private func advance(_ index: Int) -> String? {
        guard exchanges.indices.contains(index) else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(exchanges[index].socket, &buffer, buffer.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return nil }
        exchanges[index].request += buffer.prefix(max(0, count))
        let request = exchanges[index].request
        let isOver = count <= 0 || request.count > Self.maxRequestByteCount
        guard let (head, body) = Self.parts(of: request) else {
            if isOver { end(index) }
            return nil
        }
        let line = head.split(separator: "\r\n").first?.split(separator: " ") ?? []
        let isOurs = line.count == 3 && line[1] == path
        if isOurs, line[0] == "POST" {
            guard body.count >= Self.bodyLength(head) else {
                if isOver { end(index) }
                return nil
            }
            answer("204 No Content", [], at: index)
            return String(decoding: body, as: UTF8.self)
        }
        if isOurs, line[0] == "GET" {
            answer("200 OK", page, at: index)
        } else {
            answer("404 Not Found", [], at: index)
        }
        return nil
    }

    /// The head of a request and the received part of its body; nil until the head is complete.
    private static func parts(of request: [UInt8]) -> (head: String, body: ArraySlice<UInt8>)? {
        guard let end = request.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        return (String(decoding: request[..<end.lowerBound], as: UTF8.self), request[end.upperBound...])
    }

    private static func bodyLength(_ head: String) -> Int {
        let name = "content-length:"
        let field = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name) }
        return field.flatMap { Int(String($0.dropFirst(name.count)).trimmed) } ?? 0
    }

    /// Sends an answer, which a new socket has room for, and closes the connection.
    private func answer(_ status: String, _ body: [UInt8], at index: Int) {
        let head =
            "HTTP/1.1 \(status)\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: \(body.count)\r\n"
            + "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n"
        let bytes = Array(head.utf8) + body
        _ = send(exchanges[index].socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        end(index)
    }

    private func end(_ index: Int) { close(exchanges.remove(at: index).socket) }
}
