/// The answer to one request (RFC 2326 section 7).
public struct RTSPAnswer: Hashable, Sendable {
    /// The status codes that this server sends (section 11).
    public enum Status: Int, Sendable {
        case ok = 200
        case badRequest = 400
        case unauthorized = 401
        case forbidden = 403
        case notFound = 404
        case methodNotAllowed = 405
        case tooLarge = 413
        case unsupportedMedia = 415
        case sessionNotFound = 454
        case notValidInThisState = 455
        case aggregateNotAllowed = 459
        case unsupportedTransport = 461
        case notImplemented = 501
        case unavailable = 503
        case versionNotSupported = 505
        case optionNotSupported = 551

        var reason: String {
            switch self {
            case .ok: "OK"
            case .badRequest: "Bad Request"
            case .unauthorized: "Unauthorized"
            case .forbidden: "Forbidden"
            case .notFound: "Not Found"
            case .methodNotAllowed: "Method Not Allowed"
            case .tooLarge: "Request Entity Too Large"
            case .unsupportedMedia: "Unsupported Media Type"
            case .sessionNotFound: "Session Not Found"
            case .notValidInThisState: "Method Not Valid in This State"
            case .aggregateNotAllowed: "Aggregate Operation Not Allowed"
            case .unsupportedTransport: "Unsupported Transport"
            case .notImplemented: "Not Implemented"
            case .unavailable: "Service Unavailable"
            case .versionNotSupported: "RTSP Version Not Supported"
            case .optionNotSupported: "Option Not Supported"
            }
        }
    }

    /// A header field, such as `Session`.
    public struct Header: Hashable, Sendable {
        var name: String
        var value: String
    }

    /// The status code.
    public var status: Status
    /// The text after the code, for people; nil for the usual one. Control characters are left out.
    public var reason: String?
    /// The header fields in order, without CSeq and Content-Length.
    public var headers: [Header]
    /// The body, which is an SDP description; empty if there is none.
    public var body: String

    /// Creates an answer with header fields of these names and values.
    public init(_ status: Status, _ headers: [(String, String)] = [], body: String = "") {
        self.status = status
        self.headers = headers.map { Header(name: $0.0, value: $0.1) }
        self.body = body
    }

    /// The answer as it is sent, to the request with this number.
    public func bytes(to sequence: String?) -> [UInt8] {
        let reason = (reason ?? status.reason).unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }
        var text = "RTSP/1.0 \(status.rawValue) \(String(String.UnicodeScalarView(reason)))\r\n"
        if let sequence { text += "CSeq: \(sequence)\r\n" }
        for header in headers { text += "\(header.name): \(header.value)\r\n" }
        if !body.isEmpty { text += "Content-Length: \(body.utf8.count)\r\n" }
        return Array((text + "\r\n" + body).utf8)
    }
}
