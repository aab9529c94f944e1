import MediaSessions

/// The names and values of header fields.
typealias HTTPHeaders = [(String, String)]

/// A response to a request.
struct HTTPResponse {
    let status: UInt32
    let headers: HTTPHeaders
    /// nil if there is no body.
    let contentType: String?
    let body: [UInt8]
    /// The file to send instead of `body`.
    let snapshot: UnreadSnapshot?

    init(
        _ status: UInt32, headers: HTTPHeaders = [], contentType: String? = nil, body: [UInt8] = [],
        snapshot: UnreadSnapshot? = nil
    ) {
        self.status = status
        self.headers = headers
        self.contentType = contentType
        self.body = body
        self.snapshot = snapshot
    }

    /// A plain-text response for the user.
    init(_ status: UInt32, headers: HTTPHeaders = [], text: String) {
        self.init(status, headers: headers, contentType: "text/plain; charset=utf-8", body: Array((text + "\n").utf8))
    }
}

// MARK: - Usual responses

extension HTTPResponse {
    /// The headers of every response to our own page.
    static let commonHeaders: HTTPHeaders = [
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    /// The headers that let a page of `origin` read the response (CORS protocol of the Fetch standard).
    static func sharing(with origin: String) -> HTTPHeaders {
        [
            ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "cross-origin"), ("Access-Control-Allow-Origin", origin),
            ("Access-Control-Expose-Headers", "Location, ETag, Link, Accept-Patch, X-Room-Password"),
            ("Vary", "Origin"),
        ]
    }

    /// A plain-text response that isn't stored.
    static func plain(_ status: UInt32, _ text: String, _ headers: HTTPHeaders = []) -> HTTPResponse {
        HTTPResponse(status, headers: commonHeaders + [("Cache-Control", "no-store")] + headers, text: text)
    }

    /// The message for a client that used a method other than those in `allowed`.
    static func wrongMethod(_ allowed: String) -> String { "this method can't be used here; use one of \(allowed)" }

    /// The response to a method other than those in `allowed`.
    static func wrongMethod(_ allowed: String, _ headers: HTTPHeaders) -> HTTPResponse {
        HTTPResponse(405, headers: headers + [("Allow", allowed)], text: wrongMethod(allowed))
    }

    /// A refusal that doesn't say why.
    static func refusal(_ status: UInt32) -> HTTPResponse {
        plain(status, "not allowed", status == 401 ? [("WWW-Authenticate", "Bearer")] : [])
    }

    /// The response to a refusal by the media layer.
    static func refusal(_ refusal: MediaSessionError, _ headers: HTTPHeaders) -> HTTPResponse {
        let (status, more): (UInt32, HTTPHeaders) =
            switch refusal {
            case .badOffer: (400, [])
            case .unsupported: (422, [])
            case .full: (503, [("Retry-After", "5")])
            }
        return HTTPResponse(status, headers: headers + more, text: refusal.description)
    }

    /// A JSON response that isn't stored.
    static func json(_ status: UInt32, _ text: String, _ headers: HTTPHeaders = []) -> HTTPResponse {
        HTTPResponse(
            status, headers: commonHeaders + [("Cache-Control", "no-store")] + headers,
            contentType: "application/json", body: Array(text.utf8))
    }

    /// A JSON object that says what is wrong.
    static func problem(_ status: UInt32, _ words: String, _ headers: HTTPHeaders = []) -> HTTPResponse {
        json(status, ["error": words].jsonLine, headers)
    }
}
