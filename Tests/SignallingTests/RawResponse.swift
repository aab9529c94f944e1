import TestSupport

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

extension TestSocket {
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
