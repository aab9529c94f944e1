import FoundationEssentials

/// The requests of an RTSP player: DESCRIBE, SETUP of the video over the same connection, and PLAY (RFC 2326).
struct RTSPJoining {
    private struct Answer {
        let head: [Substring]
        let body: String

        /// The value of a header, by its name in small letters.
        func header(_ name: String) -> String? {
            head.first { $0.lowercased().hasPrefix(name + ":") }.map { line in
                String(line.dropFirst(name.count + 1).drop { $0 == " " })
            }
        }
    }

    private let connection: StreamConnection
    private let authorization: String
    private var sequence = 0

    /// Opens a connection on which the video comes as soon as this returns, on the channels 0 and 1.
    ///
    /// - Throws: ``BenchFailure`` if there is no answer in time, or another status than 200.
    static func join(_ address: WHEPAddress) throws(BenchFailure) -> StreamConnection {
        let url = "rtsp://\(address.authority)\(address.path)"
        var joining = RTSPJoining(try StreamConnection(to: address), token: address.token)
        let description = try joining.ask("DESCRIBE", url, "Accept: application/sdp")
        guard let control = videoControl(in: description.body) else {
            throw BenchFailure("the description has no video")
        }
        let base = description.header("content-base") ?? url + "/"
        let setUp = try joining.ask(
            "SETUP", control.hasPrefix("rtsp://") ? control : base + control,
            "Transport: RTP/AVP/TCP;unicast;interleaved=0-1")
        let session = (setUp.header("session") ?? "").prefix { $0 != ";" }
        _ = try joining.ask("PLAY", url, "Session: \(session)", "Range: npt=0.000-")
        return joining.connection
    }

    private init(_ connection: StreamConnection, token: String?) {
        self.connection = connection
        authorization = token.map { "Authorization: Basic \(Data($0.utf8).base64EncodedString())\r\n" } ?? ""
    }

    private mutating func ask(_ method: String, _ url: String, _ headers: String...) throws(BenchFailure) -> Answer {
        sequence += 1
        let lines = headers.map { $0 + "\r\n" }.joined()
        try connection.send("\(method) \(url) RTSP/1.0\r\nCSeq: \(sequence)\r\n\(authorization)\(lines)\r\n")
        let head = try connection.head().split(whereSeparator: \.isNewline)
        let status = head.first?.split(separator: " ").dropFirst().first ?? ""
        guard status == "200" else { throw BenchFailure("the server answers \(status) to \(method)") }
        let answer = Answer(head: head, body: "")
        let count = answer.header("content-length").flatMap { Int($0) } ?? 0
        let body = try connection.bytes(max(0, count))
        return Answer(head: head, body: String(decoding: body, as: UTF8.self))
    }

    /// What the description calls its video.
    private static func videoControl(in description: String) -> String? {
        let lines = description.split(whereSeparator: \.isNewline)
        guard let video = lines.firstIndex(where: { $0.hasPrefix("m=video") }) else { return nil }
        let section = lines[(video + 1)...].prefix { !$0.hasPrefix("m=") }
        return section.first { $0.hasPrefix("a=control:") }.map { String($0.dropFirst("a=control:".count)) }
    }
}
