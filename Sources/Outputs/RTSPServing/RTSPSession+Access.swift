import LinkTransport
import RTSP
import ScreenRelayKit
import Threading

extension RTSPSession {
    /// Whether a request has the right credentials; if not, after the answer that asks for them.
    func prove(
        _ request: RTSPRequest, isRight: (RTSPCredentials) -> Bool
    ) throws(SocketError) -> Bool {
        let result = request.header("authorization").flatMap { RTSPCredentials($0) }.map(isRight)
        if result == true { return true }
        if result == false { wrongCredentials += 1 }
        // The answer doesn't depend on whether the room exists, so that clients don't learn which rooms do.
        try send(RTSPConversation.challenge(nonce: nonce, offersDigest: !access.needsPassword), to: request)
        return false
    }

    /// Whether the client may begin to watch a room whose token it has, or watches it already; if not, after the answer
    /// that says why.
    func enter(_ room: String, _ request: RTSPRequest) throws(SocketError) -> Bool {
        guard let reason = access.closure(of: room), track?.room != room else { return true }
        let credentials = request.header("authorization").flatMap { RTSPCredentials($0) }
        if let credentials {
            let isPresenter = access.letsPresent(
                credentials, of: address, in: room, method: request.method, nonce: nonce)
            if isPresenter { return true }
            // In other rooms, they have been found right for viewers.
            if access.isOpen(room) { wrongCredentials += 1 }
        } else if access.hasPresenters(room) {
            // A client shows its token only when it is asked.
            try send(RTSPConversation.challenge(nonce: nonce, offersDigest: !access.needsPassword), to: request)
            return false
        }
        log.info("rtsp: \(address) was refused: \(reason)")
        var answer = RTSPAnswer(.forbidden)
        answer.reason = reason
        try send(answer, to: request)
        return false
    }

    /// Whether the host has room for the session; if not, after the answer that says so.
    func admit(_ request: RTSPRequest) throws(SocketError) -> Bool {
        if hasRoom { return true }
        if let reason = host.sessionRefusal() {
            log.info("rtsp: \(address) was refused: \(reason)")
            try send(RTSPAnswer(.unavailable, [("Retry-After", "5")]), to: request)
            return false
        }
        hasRoom = true
        return true
    }
}
