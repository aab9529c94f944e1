import CGLib
import SDP

/// What a player may change of its session: candidates that it finds later, and a new ICE generation (RFC 9725 section 4.3).
extension Site {
    /// `PATCH /whep/ROOM/SESSION`
    ///
    /// A restart is told from a trickle by its credentials, not by `If-Match: *`: players send that with candidates too.
    func patch(_ exchange: HTTPExchange, _ name: String, _ session: PlayerSession, _ headers: [(String, String)]) {
        guard exchange.contentType == Self.fragmentType else {
            return exchange.answer(
                HTTPResponse(
                    415, headers: headers + [("Accept-Patch", Self.fragmentType)],
                    text: "the fragment must be of type \(Self.fragmentType)"))
        }
        guard let text = exchange.bodyText, let fragment = try? TrickleFragment(parsing: Array(text.utf8)) else {
            return exchange.answer(HTTPResponse(400, headers: headers, text: "the body is not a fragment of SDP"))
        }
        guard session.tag.matches(exchange.header("If-Match")) else {
            return exchange.answer(
                HTTPResponse(412, headers: headers, text: "If-Match names another state of this session"))
        }
        guard fragment.isTrickle(for: session.generation) else {
            // A late candidate, which must not bring back what the player has left behind.
            guard session.formerGeneration.map({ !fragment.isTrickle(for: $0) }) ?? true else {
                return exchange.answer(
                    HTTPResponse(
                        412, headers: headers, text: "ICE has been restarted since these candidates were found"))
            }
            return restart(exchange, name, session, text, fragment, headers)
        }
        session.side.remoteCandidates(session.media, fragment: text)
        exchange.answer(HTTPResponse(204, headers: headers))
    }

    private func restart(
        _ exchange: HTTPExchange, _ name: String, _ session: PlayerSession, _ text: String, _ fragment: TrickleFragment,
        _ headers: [(String, String)]
    ) {
        do throws(MediaRefusal) {
            let restarted = try session.side.restartICE(session.media, fragment: text)
            let tag = EntityTag(text: restarted.entityTag)
            playerSessions[name]?.tag = tag
            playerSessions[name]?.generation = fragment
            playerSessions[name]?.formerGeneration = session.generation
            exchange.answer(
                HTTPResponse(
                    200, headers: headers + [("ETag", tag.header), ("Cache-Control", "no-store")],
                    contentType: Self.fragmentType, body: Array(restarted.fragment.utf8)))
        } catch {
            log("room \(session.room): an ICE restart by \(exchange.clientAddress) was refused: \(error)")
            exchange.answer(Self.answer(to: error, headers))
        }
    }
}
