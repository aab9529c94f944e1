import Foundation
import OutputLife

/// A session at an endpoint of WHIP (RFC 9725). The offer has all candidates, so there is nothing to trickle; the ICE
/// servers that the endpoint names are for clients that it could not reach otherwise.
struct WHIPService: PublishingService {
    /// The most redirects in a row.
    private static let redirectLimit = 5

    private let endpoint: String
    private let token: String?
    private let attempt: Attempt
    /// Nil before the first request.
    private var client: WebClient?
    /// The session's URL; nil before the endpoint has told it.
    private var session: String?

    init(_ endpoint: String, token: String?, _ attempt: Attempt) {
        (self.endpoint, self.token, self.attempt) = (endpoint, token, attempt)
    }

    mutating func publish(_ offer: String) throws(OutputFailure) -> String {
        let client = try WebClient(attempt)
        self.client = client
        var url = endpoint
        for _ in 0...Self.redirectLimit {
            let answer = try client.request("POST", url, token: token, body: offer)
            switch answer.status {
            case 307, 308:
                guard let next = Self.resolve(answer.location, at: url) else {
                    throw OutputFailure("the server sends this push to an address that can't be used")
                }
                url = next
            case 200, 201:
                // Before the rest of the answer is read, so that a session that can't be used is ended.
                session = Self.resolve(answer.location, at: url)
                guard let sdp = String(validating: try client.body(of: answer), as: UTF8.self), !sdp.isEmpty else {
                    throw OutputFailure("the server's answer is empty or no text")
                }
                return sdp
            default: throw Self.failure(answer.status, retryAfter: answer.retryAfter, hasToken: token != nil)
            }
        }
        throw OutputFailure("the server sends this push from one address to the next")
    }

    mutating func stay() throws(OutputFailure) {
        attempt.run { attempt.isOver }
    }

    mutating func end() {
        guard let session else { return }
        // Whatever it answers: a server that is gone ends the session by itself.
        _ = try? client?.request("DELETE", session, token: token)
    }

    /// The URL that `location` names at `base`; nil if it is none of HTTP. The token goes there (RFC 9725 section
    /// 4.7.1), so it must not lead from TLS to a place without.
    static func resolve(_ location: String?, at base: String) -> String? {
        guard let location, location.utf8.count <= 4096, let base = URL(string: base),
            let url = URL(string: location, relativeTo: base)?.absoluteURL, let scheme = url.scheme?.lowercased(),
            scheme == "https" || scheme == "http" && base.scheme?.lowercased() == "http", url.host?.isEmpty == false
        else { return nil }
        return url.absoluteString
    }

    /// What a status other than success says.
    static func failure(_ status: UInt32, retryAfter: String?, hasToken: Bool) -> OutputFailure {
        switch status {
        case 401, 403:
            let what = hasToken ? "refuses the token" : "wants a token"
            return OutputFailure("the server \(what) (\(status))", isFinal: true)
        case 404, 410: return OutputFailure("the server has nothing at this address (\(status))")
        case 405: return OutputFailure("nothing can be published at this address (405)")
        case 409: return OutputFailure("somebody else publishes there (409)")
        case 400, 406, 415, 422: return OutputFailure("the server can't take what is offered (\(status))")
        case 429, 503:
            let wait = retryAfter.flatMap { UInt32($0) }.map { ", and asks to wait for \($0) s" } ?? ""
            return OutputFailure("the server is busy (\(status))\(wait)")
        case 500...599: return OutputFailure("the server has failed (\(status))")
        default: return OutputFailure("the server gives an answer that isn't understood (\(status))")
        }
    }
}
