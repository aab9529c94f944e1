import CGLib
import RTSP
import ScreenRelayKit

extension ViewerAccess {
    /// Whether a client with these credentials may watch a room.
    ///
    /// The token is the password; where the room has a password too, that is the user's name.
    ///
    /// - Parameters:
    ///   - address: the client's.
    ///   - method: the request's.
    ///   - nonce: what the client was given to prove.
    func admits(
        _ credentials: RTSPCredentials, of address: String, to room: String, method: String, nonce: String
    ) -> Bool {
        switch credentials {
        case .basic(let user, let password): admits(address, to: room, token: password, password: user)
        case .digest(let digest):
            tokens(of: room).contains { digest.proves($0, method: method, nonce: nonce, md5: md5) }
        }
    }

    /// Whether a client with these credentials may publish into a room: as above, with the presenters' token.
    func letsPresent(
        _ credentials: RTSPCredentials, of address: String, in room: String, method: String, nonce: String
    ) -> Bool {
        switch credentials {
        case .basic(let user, let password): letsPresent(address, in: room, token: password, password: user)
        case .digest(let digest):
            presentingToken(of: room).map { digest.proves($0, method: method, nonce: nonce, md5: md5) } ?? false
        }
    }
}

/// The hexadecimal MD5 of a text (RFC 1321), which Digest authentication has.
private func md5(_ text: String) -> String {
    guard let sum = g_compute_checksum_for_string(G_CHECKSUM_MD5, text, -1) else { return "" }
    defer { g_free(sum) }
    return String(cString: sum)
}
