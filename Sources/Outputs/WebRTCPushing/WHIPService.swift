import FoundationEssentials
import OutputLife

/// A session at an endpoint of WHIP (RFC 9725), or of WHEP (draft-ietf-wish-whep), which has the same requests. The
/// offer has all candidates, so there is nothing to trickle.
struct WHIPService: PublishingService {
    /// The most redirects in a row.
    private static let redirectLimit = 5

    private let endpoint: String
    private let token: String?
    /// The password of the room that is viewed; nil if there is none.
    private let password: String?
    /// Whether the session is a viewer's.
    private let isViewing: Bool
    private let context: CancellableContext
    /// Nil before the first request.
    private var client: WebClient?
    /// The session's URL; nil before the endpoint has told it, or if it isn't at the server that answered.
    private var session: String?
    private(set) var named: NamedServers?

    init(
        _ endpoint: String, token: String?, password: String? = nil, isViewing: Bool = false,
        _ context: CancellableContext
    ) {
        self.endpoint = endpoint
        self.token = token
        self.context = context
        self.password = password
        self.isViewing = isViewing
    }

    /// The session's name in messages.
    private var name: String { isViewing ? "viewer" : "push" }

    mutating func publish(_ offer: String) throws(OutputError) -> String {
        let client = try WebClient(context)
        self.client = client
        var url = endpoint
        for _ in 0...Self.redirectLimit {
            let answer: WebClient.Answer
            do throws(OutputError) {
                answer = try client.request(
                    "POST", url, token: token(for: url), password: mayKnow(url) ? password : nil, body: offer)
            } catch {
                throw client.hasNoAnswer && !isViewing ? Self.noAnswer : error
            }
            switch answer.status {
            case 307, 308:
                guard let next = Self.resolve(answer.location, at: url) else {
                    throw OutputError("the server sends this \(name) to an address that can't be used")
                }
                url = next
            case 200, 201:
                // Before the rest of the answer is read, so that a session that can't be used is ended. A server must
                // not have requests sent to others.
                session = Self.resolve(answer.location, at: url).flatMap { Origin($0) == Origin(url) ? $0 : nil }
                guard let sdp = String(validating: try client.body(of: answer), as: UTF8.self), !sdp.isEmpty else {
                    throw OutputError("the server's answer is empty or no text")
                }
                let nearest = client.nearest ?? .global
                named =
                    answer.links.flatMap { NamedServers(links: $0, nearest: nearest) } ?? NamedServers(nearest: nearest)
                return sdp
            case 401 where token != nil && token(for: url) == nil, 403 where token != nil && token(for: url) == nil:
                throw OutputError(
                    "the server sends this \(name) to another one, which wants a token (\(answer.status)); a token is "
                        + "sent only to the server that the URL names", isFinal: true)
            case 401 where isViewing && answer.wantsPassword:
                throw OutputError(
                    "the room requires a password, or another one (401): add it after the room token, for example "
                        + "ROOM,TOKEN,PASSWORD", isFinal: true)
            case let status where isViewing:
                throw Self.viewingFailure(status, retryAfter: answer.retryAfter, hasToken: token != nil)
            default:
                // A body that can't be read says nothing.
                let body = answer.status == 403 ? (try? client.body(of: answer)) ?? [] : []
                throw Self.failure(
                    answer.status, retryAfter: answer.retryAfter, hasToken: token != nil,
                    words: String(decoding: body, as: UTF8.self))
            }
        }
        throw OutputError("the server sends this \(name) from one address to the next")
    }

    mutating func stay() throws(OutputError) {
        context.run { context.isOver }
    }

    mutating func end() {
        guard let session else { return }
        // Whatever it answers: a server that is gone ends the session by itself.
        _ = try? client?.request("DELETE", session, token: token(for: session))
    }

    /// The token, if it may be sent to `url`.
    private func token(for url: String) -> String? { mayKnow(url) ? token : nil }

    /// Whether secrets may be sent to `url`: only the server that the user has named gets them, even if that goes on
    /// from HTTP to HTTPS.
    private func mayKnow(_ url: String) -> Bool {
        guard let place = Origin(url), let own = Origin(endpoint) else { return false }
        let isUpgraded = place.host == own.host && place.isSecure && place.port == 443
        return place == own || isUpgraded
    }

    /// The URL that `location` names at `base`; nil if it is none of HTTP. It must not lead from TLS to a place
    /// without.
    static func resolve(_ location: String?, at base: String) -> String? {
        guard let location, location.utf8.count <= 4096, let base = URL(string: base),
            let url = URL(string: location, relativeTo: base)?.absoluteURL, let scheme = url.scheme?.lowercased(),
            scheme == "https" || scheme == "http" && base.scheme?.lowercased() == "http", url.host?.isEmpty == false
        else { return nil }
        return url.absoluteString
    }

    /// What a closed connection instead of an answer means: SRS gives no reason for a refusal.
    static let noAnswer = OutputError(
        "the server has closed the connection without an answer; some do so while another publisher has the stream's "
            + "name, or if they can't take what is offered: check the stream's name, and the server's log",
        nameMayBeInUse: true)

    /// What a status other than success says to a viewer.
    static func viewingFailure(_ status: UInt32, retryAfter: String?, hasToken: Bool) -> OutputError {
        switch status {
        case 401, 403:
            let words = hasToken ? "refuses the token" : "wants a token"
            return OutputError("the server \(words) (\(status))", isFinal: true)
        case 405: return OutputError("nothing can be viewed at this address (405)")
        case 409: return OutputError("the server has nothing to send yet (409)")
        case 423: return OutputError("the room is locked, or lets viewers in only on its page (423)")
        default: return failure(status, retryAfter: retryAfter, hasToken: hasToken)
        }
    }

    /// What a status other than success says. `words` are what comes with it, and aren't passed on.
    static func failure(
        _ status: UInt32, retryAfter: String?, hasToken: Bool, words: String = ""
    ) -> OutputError {
        let token = hasToken ? "refuses the token" : "wants a token"
        switch status {
        case 401: return OutputError("the server \(token) (401)", isFinal: true)
        case 403:
            // Some servers say so of a name that is in use, and only their words tell.
            switch Refusal(words) {
            case .name: return OutputError("the stream name is in use (403)", nameMayBeInUse: true)
            case .token: return OutputError("the server \(token) (403)", isFinal: true)
            case nil:
                return OutputError(
                    "the server \(token), or the stream name is in use (403)", isFinal: true,
                    nameMayBeInUse: true)
            }
        case 404, 410: return OutputError("the server has nothing at this address (\(status))")
        case 405: return OutputError("nothing can be published at this address (405)")
        case 409: return OutputError("the stream name is in use (409)", nameMayBeInUse: true)
        case 400, 406, 415, 422: return OutputError("the server can't take what is offered (\(status))")
        case 429, 503:
            let wait = retryAfter.flatMap { UInt32($0) }.map { ", and asks to wait for \($0) s" } ?? ""
            return OutputError("the server is busy (\(status))\(wait)")
        case 500...599: return OutputError("the server has failed (\(status))")
        default: return OutputError("the server gives an answer that isn't understood (\(status))")
        }
    }
}

/// What a server has against a publisher, by its own words.
private enum Refusal {
    case name, token

    init?(_ words: String) {
        let words = words.lowercased()
        func contains(_ parts: [String]) -> Bool { parts.contains { words.contains($0) } }
        if contains(["in use", "already", "conflict"]) {
            self = .name
        } else if contains(["authori", "authenti", "token", "credential", "password"]) {
            self = .token
        } else {
            return nil
        }
    }
}

/// What makes two URLs of HTTP lead to the same server (RFC 6454 section 4).
private struct Origin: Equatable {
    let isSecure: Bool
    let host: String
    let port: Int

    init?(_ url: String) {
        guard let parts = URLComponents(string: url), let host = parts.percentEncodedHost?.lowercased() else {
            return nil
        }
        isSecure = parts.scheme?.lowercased() == "https"
        self.host = host
        port = parts.port ?? (isSecure ? 443 : 80)
    }
}
