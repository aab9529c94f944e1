import ByteCoding
import CGLib

/// Fetches the last picture of a room from its link (`http://HOST:PORT/#ROOM,TOKEN`).
public struct SnapshotClient: Sendable {
    /// The largest accepted file, in bytes.
    private static let sizeLimit = 64 << 20

    private let timeout: UInt32

    /// `timeout`, in seconds, applies to connecting and to each wait for data.
    public init(timeout: UInt32 = 15) {
        self.timeout = timeout
    }

    /// Fetches the picture of `track`, or of the room's first track, as a file. Blocks; may be called from any thread.
    /// Uses no proxy and follows no redirect, because the token is meant for that host only, and accepts the
    /// certificates that `ServerTrust` does.
    ///
    /// - Throws: ``SnapshotClientError`` if `link` isn't one, if the host can't be reached or refuses, or if it has no
    ///   picture.
    public func fetchSnapshot(
        link: String, track: String? = nil, format: SnapshotFormat
    ) throws(SnapshotClientError) -> [UInt8] {
        guard let target = RoomLink(link) else { throw .notALink(link) }
        guard let message = soup_message_new("GET", target.address(of: format, track: track)) else {
            throw .notALink(link)
        }
        defer { g_object_unref(UnsafeMutableRawPointer(message)) }
        if !target.token.isEmpty {
            soup_message_headers_replace(
                soup_message_get_request_headers(message), "Authorization", "Bearer \(target.token)")
        }
        if let password = target.password {
            soup_message_headers_replace(
                soup_message_get_request_headers(message), "X-Room-Password", PercentCoding.encode(password))
        }
        soup_message_add_flags(message, SOUP_MESSAGE_NO_REDIRECT)
        let place = NumericPlace(target.name, port: target.port)
        let session: UnsafeMutablePointer<SoupSession> = shim_soup_session_new_direct(timeout, place?.pointer)
        defer { g_object_unref(session) }
        if target.isSecure {
            guard let trust = ServerTrust() else { throw .unreachable(target.host, reason: ServerTrust.unreadable) }
            trust.check(session)
        }

        var error: UnsafeMutablePointer<GError>?
        guard let stream = soup_session_send(session, message, nil, &error) else {
            let errors = soup_message_get_tls_peer_certificate_errors(message)
            guard errors.rawValue == 0 else {
                g_clear_error(&error)
                throw .unreachable(target.host, reason: ServerTrust.fault(errors))
            }
            throw Self.failure(&error, target)
        }
        defer { g_object_unref(stream) }
        let body = try Self.readAll(stream, target)
        switch soup_message_get_status(message).rawValue {
        case 200: return body
        case 401
        where soup_message_headers_get_one(soup_message_get_response_headers(message), "X-Room-Password") != nil:
            throw .needsPassword(target.host)
        case 401, 403: throw .refused(target.host)
        case 421: throw .unknownName(target.host)
        case 423: throw .closed(target.host, Self.firstLine(body))
        case 429: throw .tooManyAttempts(target.host)
        case 404 where track != nil: throw .noTrack
        case 503, 504: throw .noPicture(Self.firstLine(body))
        case let status: throw .unexpected(target.host, status: status, Self.firstLine(body))
        }
    }

    private static func readAll(
        _ stream: UnsafeMutablePointer<GInputStream>, _ target: RoomLink
    ) throws(SnapshotClientError) -> [UInt8] {
        var body: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            var error: UnsafeMutablePointer<GError>?
            let count = g_input_stream_read(stream, &chunk, gsize(chunk.count), nil, &error)
            guard count >= 0 else { throw failure(&error, target) }
            guard count > 0 else { return body }
            guard body.count + count <= sizeLimit else { throw .tooLarge(target.host) }
            body += chunk.prefix(count)
        }
    }

    private static func failure(
        _ error: inout UnsafeMutablePointer<GError>?, _ target: RoomLink
    ) -> SnapshotClientError {
        defer { g_clear_error(&error) }
        return .unreachable(target.host, reason: error.map { String(cString: $0.pointee.message) } ?? "no reason given")
    }

    private static func firstLine(_ body: [UInt8]) -> String {
        let line = body.prefix(200).prefix { $0 >= 0x20 }
        return String(decoding: line, as: UTF8.self)
    }
}

extension RoomLink {
    fileprivate func address(of format: SnapshotFormat, track: String?) -> String {
        let wanted = [("room", room.isEmpty ? nil : room), ("track", track)]
        let query = wanted.compactMap { name, value in value.map { "\(name)=\(PercentCoding.encode($0))" } }
        let words = query.isEmpty ? "" : "?" + query.joined(separator: "&")
        return "\(origin)/snapshot.\(format.rawValue)\(words)"
    }
}

/// Why there is no snapshot, in one line.
public enum SnapshotClientError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The text isn't a link as `screenrelay share` prints it. The description never shows a token.
    case notALink(String)
    case unreachable(String, reason: String)
    /// The host refuses this link.
    case refused(String)
    /// The token is right, but the password is missing or wrong.
    case needsPassword(String)
    /// The room is locked or has a waiting room, as the text says, and the link lacks the presenters' token.
    case closed(String, String)
    /// The host doesn't accept this name.
    case unknownName(String)
    /// This address has sent wrong tokens too often.
    case tooManyAttempts(String)
    /// Nothing has been captured yet, or the capture sent nothing in time.
    case noPicture(String)
    /// The room has no track of the requested name.
    case noTrack
    case tooLarge(String)
    case unexpected(String, status: UInt32, String)

    public var description: String {
        switch self {
        case .notALink(let link):
            "'\(link.prefix { $0 != "," })' is not an invite link; give one such as http://127.0.0.1:8080/#ROOM,TOKEN"
        case .unreachable(let host, let reason): "can't reach \(host): \(reason)"
        case .refused(let host):
            "\(host) doesn't accept this invite link: use the one that its 'screenrelay share' printed"
        case .needsPassword(let host):
            "\(host) requires a password, or another one: add it after the room token, for example ROOM,TOKEN,PASSWORD"
        case .closed(let host, let reason): "\(host) lets only presenters in now: \(reason)"
        case .unknownName(let host): "the host doesn't go by the name \(host): take its address"
        case .tooManyAttempts(let host): "\(host) was asked with a wrong room token too often: try again in a minute"
        case .noPicture("no picture yet"): "the host has no picture yet; start a capture, or try again"
        case .noPicture(let reason): "the host gives no picture: \(reason)"
        case .noTrack: "the room has no such track"
        case .tooLarge(let host): "\(host) sent more than 64 MiB for a picture"
        case .unexpected(let host, let status, let text): "\(host) answered \(status): \(text)"
        }
    }
}
