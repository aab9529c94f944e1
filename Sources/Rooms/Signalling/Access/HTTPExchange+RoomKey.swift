import ByteCoding
import Rooms

extension HTTPExchange {
    /// Returns the credentials of a request about `room`: `Bearer TOKEN` and the header `X-Room-Password`, or `Bearer
    /// TOKEN,PASSWORD` from clients that can't send that header. The password is UTF-8 in percent-encoding, because
    /// browsers can't send anything else.
    func key(to room: String) -> RoomKey {
        let parts = (bearer ?? "").split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
        var password = parts.count > 1 ? String(parts[1]) : nil
        if let header = header("X-Room-Password") { password = header }
        let decoded = password.flatMap { PercentCoding.decode($0) } ?? ""
        return RoomKey(
            room: room, token: parts.first.map(String.init) ?? "", password: decoded.isEmpty ? nil : decoded)
    }
}
