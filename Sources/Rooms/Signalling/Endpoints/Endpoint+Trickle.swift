import MediaSessions
import SDP
import Threading

extension Endpoint {
    /// Handles candidates that a client found later, or an ICE restart (RFC 9725 section 4.3).
    func patch(
        _ exchange: HTTPExchange, _ name: String, _ session: Session, _ headers: HTTPHeaders
    ) -> HTTPResponse {
        guard exchange.contentType == Self.fragmentType else {
            return HTTPResponse(
                415, headers: headers + [Self.acceptPatch], text: "the fragment must be of type \(Self.fragmentType)")
        }
        guard let text = exchange.bodyText, let fragment = try? TrickleFragment(parsing: Array(text.utf8)) else {
            return HTTPResponse(400, headers: headers, text: "the body is not a fragment of SDP")
        }
        guard session.ice.tag.matches(exchange.header("If-Match")) else {
            return HTTPResponse(412, headers: headers, text: "If-Match names another state of this session")
        }
        switch session.ice.step(of: fragment) {
        case .trickle:
            session.served.takeCandidates(text)
            return HTTPResponse(204, headers: headers)
        case .leftBehind:
            let why = "ICE has been restarted since these candidates were found"
            return HTTPResponse(412, headers: headers, text: why)
        case .restart:
            do throws(MediaSessionError) {
                let restarted = try session.served.restartICE(text)
                var ice = session.ice
                ice.restart(with: fragment, tag: restarted.entityTag)
                sessions[name]?.ice = ice
                return HTTPResponse(
                    200, headers: headers + [("ETag", ice.tag.header), ("Cache-Control", "no-store")],
                    contentType: Self.fragmentType, body: Array(restarted.fragment.utf8))
            } catch {
                let client = exchange.clientAddress
                log(of: client).info("room \(session.address.room): an ICE restart by \(client) was refused: \(error)")
                return .refusal(error, headers)
            }
        }
    }
}
