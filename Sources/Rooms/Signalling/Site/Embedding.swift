import ByteCoding

/// The page in frames of other origins' pages (`Protocol/http.md`, "Embedding").
struct Embedding {
    /// The origins whose pages may show ours, as browsers write them. None means that no page may.
    private let origins: [String]

    /// The path of the script for these pages.
    static let scriptPath = "/embed.js"

    /// - Parameter origins: as users write them. Text that isn't an origin is ignored, because it could change the rest
    ///   of the policy.
    init(origins: [String]) {
        self.origins = origins.compactMap { Self.origin($0) }
    }

    /// Whether any page may show ours.
    var isAllowed: Bool { !origins.isEmpty }

    /// The directive of Content-Security-Policy for all of the page's files.
    var policy: String { "frame-ancestors \(isAllowed ? origins.joined(separator: " ") : "'none'")" }

    /// The headers that allow a page of `origin` to load the script, if it may show ours.
    func scriptHeaders(for origin: RequestOrigin) -> HTTPHeaders {
        switch origin {
        case .allowed(let origin) where origins.contains(origin.lowercased()),
            .foreign(let origin) where origins.contains(origin.lowercased()):
            HTTPResponse.sharing(with: origin)
        case .ours, .allowed, .foreign, .malformed: HTTPResponse.commonHeaders
        }
    }

    /// The origin that `text` means, as browsers write it: in lower case, and without the scheme's usual port. Nil
    /// unless `SignallingConfiguration.isEmbeddingOrigin`.
    static func origin(_ text: String) -> String? {
        let text = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) }),
            let authority = Authority(text.dropFirst(scheme.count)), !authority.host.hasPrefix("[")
        else { return nil }
        let usualPort: UInt16 = scheme == "https://" ? 443 : 80
        let port = authority.port.map { $0 == usualPort ? "" : ":\($0)" } ?? ""
        return scheme + authority.host + port
    }
}

// MARK: - oEmbed

extension Embedding {
    /// The answer to a request for the code that shows an open room in a page (oEmbed 1.0, https://oembed.com).
    ///
    /// A link with a token is refused like any other private address: in a request, the token would get into logs. The
    /// answer has nothing that the link doesn't have, apart from the first room's name if the link names none.
    ///
    /// - Parameter openRoom: returns the name of the open room with that name, or of the first room for an empty name;
    ///   nil if it needs a token or doesn't exist.
    func code(for exchange: HTTPExchange, openRoom: (String) -> String?) -> HTTPResponse {
        guard ["GET", "HEAD"].contains(exchange.method) else {
            return .plain(405, HTTPResponse.wrongMethod("GET, HEAD"), [("Allow", "GET, HEAD")])
        }
        guard let host = Authority(exchange.header("Host") ?? ""),
            let fragment = Self.fragment(of: exchange.query("url") ?? "", on: host)
        else { return .plain(404, "url must be a link of this host") }
        guard exchange.query("format") ?? "json" == "json" else { return .plain(501, "the format must be json") }
        guard let name = PercentCoding.decode(fragment), !name.contains(","), let room = openRoom(name) else {
            return .refusal(401)
        }
        let page = Self.page(of: exchange, on: host)
        let size = Self.size(maxWidth: exchange.query("maxwidth"), maxHeight: exchange.query("maxheight"))
        let html =
            "<iframe src=\"\(page)#\(PercentCoding.encode(room))\" width=\"\(size.width)\" height=\"\(size.height)\" "
            + "title=\"Shared screen\" allow=\"autoplay; fullscreen\"></iframe>"
        let answer = OEmbedAnswer(html: html, width: size.width, height: size.height, providerURL: page)
        return .json(200, answer.jsonLine)
    }

    /// The page's header with the address of this answer.
    func discovery(for exchange: HTTPExchange) -> HTTPHeaders {
        guard let host = Authority(exchange.header("Host") ?? "") else { return [] }
        let page = Self.page(of: exchange, on: host)
        let address = "\(page)oembed?url=\(PercentCoding.encode(page))"
        return [("Link", "<\(address)>; rel=\"alternate\"; type=\"application/json+oembed\"")]
    }

    private static func page(of exchange: HTTPExchange, on host: Authority) -> String {
        let port = host.port.map { ":\($0)" } ?? ""
        return "\(exchange.isSecured ? "https" : "http")://\(host.host)\(port)/"
    }

    /// The part of a link after `#`, which may be empty; nil unless the link is one of `host`.
    private static func fragment(of url: String, on host: Authority) -> Substring? {
        guard let scheme = ["https://", "http://"].first(where: { url.hasPrefix($0) }) else { return nil }
        let rest = url.dropFirst(scheme.count)
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        guard Authority(rest[..<end]) == host else { return nil }
        return rest.firstIndex(of: "#").map { rest[rest.index(after: $0)...] } ?? ""
    }

    /// The largest size of 16:9 within these limits, which may be missing, and within 1280x720.
    private static func size(maxWidth: String?, maxHeight: String?) -> (width: Int, height: Int) {
        let width = min(maxWidth.flatMap { Int($0) } ?? 1280, 1280)
        let height = min(maxHeight.flatMap { Int($0) } ?? 720, 720)
        guard width > 0, height > 0 else { return (1280, 720) }
        return width * 9 <= height * 16 ? (width, max(1, width * 9 / 16)) : (max(1, height * 16 / 9), height)
    }
}

/// The members of an oEmbed answer.
private struct OEmbedAnswer: Encodable {
    let version = "1.0"
    let type = "video"
    let html: String
    let width: Int
    let height: Int
    let providerName = "ScreenRelay"
    let providerURL: String

    private enum CodingKeys: String, CodingKey {
        case version, type, html, width, height
        case providerName = "provider_name"
        case providerURL = "provider_url"
    }
}
