/// A request of RTSP 1.0 (RFC 2326 section 6).
public struct RTSPRequest: Hashable, Sendable {
    /// The method as it was written: methods are case-sensitive.
    public var method: String
    /// The whole URL, or `*`.
    public var url: String
    private var headers: [String: String]
    /// The body; empty if there is none.
    public internal(set) var body: [UInt8] = []

    /// The value of a header, by its name in small letters; nil if there is none.
    public func header(_ name: String) -> String? { headers[name] }

    /// The number that its answer repeats; nil if it has none, or one of other characters than digits.
    public var sequence: String? {
        guard let value = header("cseq"), !value.isEmpty, value.utf8.count <= 10,
            value.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return value
    }

    /// The session that it belongs to, without parameters such as `timeout`; nil if it names none.
    public var session: String? {
        header("session").map { $0.prefix { $0 != ";" } }.map { $0.trimmed }
    }

    /// The most lines of a head.
    static let maxLines = 100

    /// Parses the head of a request, which ends before its empty line.
    init(parsing head: ArraySlice<UInt8>) throws(RTSPError) {
        var lines = head.split(separator: 0x0A, omittingEmptySubsequences: true).map { line in
            line.last == 0x0D ? line.dropLast() : line
        }[...]
        guard lines.count <= Self.maxLines else { throw .tooLong }
        guard let first = lines.popFirst(), let words = String(validating: first, as: UTF8.self)?.split(separator: " "),
            words.count == 3, words[2].hasPrefix("RTSP/")
        else { throw .malformed("the first line is not METHOD URL RTSP/1.0") }
        guard words[2] == "RTSP/1.0" else { throw .wrongVersion }
        method = String(words[0])
        url = String(words[1])
        headers = [:]
        for line in lines {
            guard let text = String(validating: line, as: UTF8.self), let colon = text.firstIndex(of: ":") else {
                throw .malformed("a header has no colon")
            }
            // The first one counts: our clients never repeat a header.
            let name = text[..<colon].trimmed.lowercased()
            if headers[name] == nil { headers[name] = text[text.index(after: colon)...].trimmed }
        }
    }
}

/// What is wrong with the bytes of a client, so that its connection can't go on.
public enum RTSPError: Error, Hashable, Sendable {
    case malformed(String)
    case tooLong
    case wrongVersion

    /// The answer after which the connection is closed.
    public var answer: RTSPAnswer {
        switch self {
        case .malformed: RTSPAnswer(.badRequest)
        case .tooLong: RTSPAnswer(.tooLarge)
        case .wrongVersion: RTSPAnswer(.versionNotSupported)
        }
    }
}

/// Divides what a client sends into requests and interleaved packets (RFC 2326 section 10.12).
///
/// Its memory is bounded: by a request of ``maxHead`` with a body of ``maxBody`` bytes, or a packet of 64 KiB.
public struct RTSPReader: Sendable {
    /// What a client has sent: a request, or an interleaved packet of a channel.
    public enum Item: Hashable, Sendable {
        case request(RTSPRequest)
        case packet(channel: UInt8, ArraySlice<UInt8>)
    }

    /// The largest request line with its header fields, in bytes.
    public static let maxHead = 8 << 10
    /// The largest body, in bytes. The description that ANNOUNCE has takes about 1 KiB.
    public static let maxBody = 4 << 10

    private var bytes: [UInt8] = []
    private var start = 0
    /// Up to where there is no end of a head.
    private var searched = 0
    /// A request whose head has come, and the bytes of its body that have not been read.
    private var waiting: (request: RTSPRequest, rest: Int)?

    public init() {}

    /// The bytes that have come and were not read yet.
    var keptCount: Int { bytes.count - start }

    /// Adds what has been received. Take all items before adding more.
    public mutating func append(_ more: ArraySlice<UInt8>) {
        bytes.removeSubrange(..<start)
        searched = max(0, searched - start)
        start = 0
        bytes.append(contentsOf: more)
    }

    /// The next item; nil if it has not come whole.
    ///
    /// - Throws: ``RTSPError`` if a request is malformed or longer than a limit. Then nothing more can be read.
    public mutating func next() throws(RTSPError) -> Item? {
        if var (request, rest) = waiting {
            let count = min(rest, bytes.count - start)
            waiting = nil
            request.body += bytes[start..<start + count]
            start += count
            rest -= count
            guard rest > 0 else { return .request(request) }
            waiting = (request, rest)
            return nil
        }
        // Some clients end a request's body with an empty line.
        while start < bytes.count, bytes[start] == 0x0D || bytes[start] == 0x0A { start += 1 }
        guard start < bytes.count else { return nil }
        return bytes[start] == 0x24 ? packet() : try request()
    }

    /// `$`, the channel, the length in two bytes, the packet.
    private mutating func packet() -> Item? {
        guard bytes.count - start >= 4 else { return nil }
        let end = start + 4 + Int(bytes[start + 2]) << 8 + Int(bytes[start + 3])
        guard bytes.count >= end else { return nil }
        defer { start = end }
        return .packet(channel: bytes[start + 1], bytes[(start + 4)..<end])
    }

    private mutating func request() throws(RTSPError) -> Item? {
        guard let head = head() else {
            if bytes.count - start > Self.maxHead { throw .tooLong }
            return nil
        }
        guard head.end - start <= Self.maxHead else { throw .tooLong }
        let request = try RTSPRequest(parsing: bytes[start..<head.textEnd])
        start = head.end
        if let length = request.header("content-length") {
            guard let count = Int(length), count >= 0 else { throw .malformed("Content-Length is not a number") }
            guard count <= Self.maxBody else { throw .tooLong }
            waiting = (request, count)
            return try next()
        }
        return .request(request)
    }

    /// Where the text of a head ends, and where what follows its empty line begins.
    private mutating func head() -> (textEnd: Int, end: Int)? {
        var index = max(start, searched)
        while let line = bytes[index...].firstIndex(of: 0x0A) {
            if line + 1 < bytes.count, bytes[line + 1] == 0x0A { return (line, line + 2) }
            if line + 2 < bytes.count, bytes[line + 1] == 0x0D, bytes[line + 2] == 0x0A { return (line, line + 3) }
            // What ends the head may still have to come.
            guard line + 2 < bytes.count else { break }
            index = line + 1
        }
        searched = bytes[index...].firstIndex(of: 0x0A) ?? bytes.count
        return nil
    }
}

extension StringProtocol {
    /// Without spaces and tabs at both ends.
    var trimmed: String {
        let start = drop { $0 == " " || $0 == "\t" }
        return String(start.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
