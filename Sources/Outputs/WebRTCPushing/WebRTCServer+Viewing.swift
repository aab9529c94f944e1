import ByteCoding
import FoundationEssentials
public import OutputSettings
package import Signalling

extension WebRTCServer {
    /// The room that a link without one opens.
    private static let usualRoom = "screen"

    /// Reads where to view: an invite link, `http://HOST:PORT/#ROOM,TOKEN`, or the address of a WHEP endpoint,
    /// `https://TOKEN@HOST/PATH`, whose token may be left out.
    ///
    /// - Parameters:
    ///   - text: the link or the address; an address may have `whep:` before it.
    ///   - track: the track of the room; nil for its first one. Only for an invite link.
    /// - Throws: ``OutputSettingsError`` that says what is wrong with it, without its secret parts.
    public init(viewing text: String, track: String? = nil) throws(OutputSettingsError) {
        guard text.utf8.count <= Self.maxByteCount else {
            throw OutputSettingsError("the address has more than \(Self.maxByteCount) bytes")
        }
        let isNamed = text.lowercased().hasPrefix("whep:")
        let address = isNamed ? String(text.dropFirst(5)) : text
        guard let parts = URLComponents(string: address), let scheme = parts.scheme?.lowercased(),
            ["https", "http"].contains(scheme), let host = parts.percentEncodedHost, !host.isEmpty,
            parts.port.map({ (1...65535).contains($0) }) ?? true
        else {
            throw OutputSettingsError(
                "the address can't be read; write it like http://HOST:PORT/#ROOM,TOKEN or https://TOKEN@HOST/PATH")
        }
        let plainHost = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        let place = "\(scheme)://" + (parts.port.map { "\(host):\($0)" } ?? host)
        if !isNamed, parts.fragment != nil || parts.percentEncodedPath.count <= 1 {
            guard let link = RoomLink(address) else {
                throw OutputSettingsError("the invite link can't be read; write it like http://HOST:PORT/#ROOM,TOKEN")
            }
            let room = PercentCoding.encode(link.room.isEmpty ? Self.usualRoom : link.room)
            let query = track.map { "?track=\(PercentCoding.encode($0))" } ?? ""
            self.init(
                service: .whep(password: link.password), url: "\(link.origin)/whep/\(room)\(query)",
                token: link.token.isEmpty ? nil : link.token, description: place, host: plainHost)
            return
        }
        guard parts.percentEncodedPath.count > 1 else {
            throw OutputSettingsError("the address has no path; write it like whep:https://HOST/PATH")
        }
        guard track == nil else {
            throw OutputSettingsError("a track can only be chosen with an invite link")
        }
        let query = parts.percentEncodedQuery.map { "?\($0)" } ?? ""
        self.init(
            service: .whep(password: nil), url: place + parts.percentEncodedPath + query,
            token: try Self.token(parts), description: "\(place)/...", host: plainHost)
    }

    /// Where the owner of an invite link with the presenters' token publishes `track`: the WHIP endpoint of the link's
    /// room. A password follows the token, since players have no other place for it either.
    package init(publishing track: String, in link: RoomLink) {
        let room = PercentCoding.encode(link.room.isEmpty ? Self.usualRoom : link.room)
        let password = link.password.map { "," + PercentCoding.encode($0) } ?? ""
        self.init(
            service: .whip, url: "\(link.origin)/whip/\(room)/\(PercentCoding.encode(track))",
            token: link.token.isEmpty ? nil : link.token + password, description: link.origin,
            host: link.name.hasPrefix("[") ? String(link.name.dropFirst().dropLast()) : link.name)
    }

    private init(service: Service, url: String, token: String?, description: String, host: String) {
        self.service = service
        self.url = url
        self.token = token
        self.description = description
        self.host = host
    }
}
