import CBench
import Glibc

/// The request that opens a WHEP session, over a connection of its own. It blocks the calling thread.
enum WHEPRequest {
    /// The seconds that each step may take.
    private static let timeout: Int32 = 10
    private static let answerLimit = 256 * 1024

    /// Posts an offer and returns the answer.
    ///
    /// - Throws: ``BenchFailure`` if there is no answer in time, or another status than 201.
    static func post(_ offer: String, to address: WHEPAddress) throws(BenchFailure) -> String {
        let descriptor = cbench_tcp(address.host, address.port, timeout)
        guard descriptor >= 0 else { throw .system("connecting to \(address.authority)") }
        defer { close(descriptor) }
        let authorization = address.token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        let head =
            "POST \(address.path) HTTP/1.1\r\nHost: \(address.authority)\r\nContent-Type: application/sdp\r\n"
            + "Content-Length: \(offer.utf8.count)\r\nConnection: close\r\n\(authorization)\r\n"
        try send(Array((head + offer).utf8), over: descriptor)
        let response = try receive(over: descriptor)
        guard let blank = firstBlankLine(in: response) else { throw BenchFailure("the answer is not HTTP") }
        let lines = String(decoding: response[..<blank], as: UTF8.self).split(whereSeparator: \.isNewline)
        let body = Array(response[(blank + 4)...])
        let status = lines.first?.split(separator: " ").dropFirst().first ?? ""
        guard status == "201" else {
            throw BenchFailure("the server answers \(status): \(String(decoding: body.prefix(200), as: UTF8.self))")
        }
        let isChunked = lines.contains { line in
            let line = line.lowercased()
            return line.hasPrefix("transfer-encoding:") && line.hasSuffix("chunked")
        }
        return String(decoding: isChunked ? joinedChunks(of: body) : body, as: UTF8.self)
    }

    private static func send(_ bytes: [UInt8], over descriptor: Int32) throws(BenchFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { throw .system("sending the offer") }
            rest = rest.dropFirst(count)
        }
    }

    private static func receive(over descriptor: Int32) throws(BenchFailure) -> [UInt8] {
        var response: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while response.count < answerLimit {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count >= 0 else { throw .system("waiting for the answer") }
            if count == 0 { break }
            response += buffer.prefix(count)
        }
        return response
    }

    /// The index of the CR LF CR LF that ends the headers.
    private static func firstBlankLine(in bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (0...bytes.count - 4).first { start in
            bytes[start] == 13 && bytes[start + 1] == 10 && bytes[start + 2] == 13 && bytes[start + 3] == 10
        }
    }

    /// The content of a body in chunks (RFC 9112 section 7.1).
    private static func joinedChunks(of body: [UInt8]) -> [UInt8] {
        var content: [UInt8] = []
        var rest = body[...]
        while let end = rest.firstIndex(of: 10) {
            let size = String(decoding: rest[..<end], as: UTF8.self).prefix { $0.isHexDigit }
            rest = rest[(end + 1)...]
            guard let count = Int(size, radix: 16), count > 0, count <= rest.count else { break }
            content += rest.prefix(count)
            // Each chunk is followed by CR LF.
            rest = rest.dropFirst(count + 2)
        }
        return content
    }
}
