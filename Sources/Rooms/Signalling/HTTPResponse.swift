/// The names and values of header fields.
typealias HTTPHeaders = [(String, String)]

/// A response to a request.
struct HTTPResponse {
    let status: UInt32
    var headers: HTTPHeaders = []
    /// nil if there is no body.
    var contentType: String?
    var body: [UInt8] = []
    /// The file to send instead of `body`.
    var snapshot: UnreadSnapshot?

    init(_ status: UInt32, headers: HTTPHeaders = []) {
        self.status = status
        self.headers = headers
    }

    init(_ status: UInt32, headers: HTTPHeaders = [], contentType: String, body: [UInt8]) {
        self.init(status, headers: headers)
        self.contentType = contentType
        self.body = body
    }

    init(_ status: UInt32, headers: HTTPHeaders, contentType: String, snapshot: UnreadSnapshot) {
        self.init(status, headers: headers)
        self.contentType = contentType
        self.snapshot = snapshot
    }

    /// A plain-text response for the user.
    init(_ status: UInt32, headers: HTTPHeaders = [], text: String) {
        self.init(status, headers: headers, contentType: "text/plain; charset=utf-8", body: Array((text + "\n").utf8))
    }

    /// Returns this response with more headers.
    func with(_ more: HTTPHeaders) -> HTTPResponse {
        var result = self
        result.headers += more
        return result
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

    /// A refusal that doesn't say why.
    static func refusal(_ status: UInt32) -> HTTPResponse {
        plain(status, "not allowed", status == 401 ? [("WWW-Authenticate", "Bearer")] : [])
    }

    /// A JSON response that isn't stored.
    static func json(_ status: UInt32, _ text: String, _ headers: HTTPHeaders = []) -> HTTPResponse {
        HTTPResponse(
            status, headers: commonHeaders + [("Cache-Control", "no-store")] + headers,
            contentType: "application/json", body: Array(text.utf8))
    }

    /// A JSON object that says what is wrong.
    static func problem(_ status: UInt32, _ words: String, _ headers: HTTPHeaders = []) -> HTTPResponse {
        json(status, RoomsDocument.json(["error": words]), headers)
    }
}
