import STUN
import SecureTransport
import Signalling
import WebRTC

/// The links that open the pages of a host's rooms: `http://HOST:PORT/#ROOM,TOKEN`, or `https:`.
struct RoomLinks {
    private let configuration: HostConfiguration
    /// The address that HTTP really listens on.
    private let address: ListenAddress
    /// The addresses under which other machines reach the host, the best one first. Empty if it is on loopback or there
    /// is no network.
    let reachable: [String]

    /// - Parameters:
    ///   - addresses: the addresses that HTTP really listens on; links name the first one.
    ///   - interfaces: this machine's addresses, the best one first.
    init(
        _ configuration: HostConfiguration, addresses: [ListenAddress],
        interfaces: () -> [TransportAddress] = { LocalAddresses.reachable(port: 0) }
    ) {
        self.configuration = configuration
        let address = addresses.first ?? ListenAddress(address: "127.0.0.1", port: 0)
        self.address = address
        switch address.address {
        case "::": reachable = interfaces().map(\.host)
        // This socket doesn't receive IPv6.
        case "0.0.0.0": reachable = interfaces().filter { $0.family == .ipv4 }.map(\.host)
        default: reachable = address.isLoopback ? [] : [address.address]
        }
    }

    /// The first room's link for other machines in this network, or for this machine if no other can reach the host.
    var first: String {
        let host = reachable.first ?? (address.isLoopback ? address.address : "localhost")
        // A browser accepts a certificate only for the names in it.
        return link(host: configuration.certificate?.name(at: host) ?? host)
    }

    /// The first room's links for advertised addresses, whose HTTP port must be forwarded under the same number.
    var advertised: [String] {
        configuration.advertised.map { link(host: $0.host) }
    }

    /// The link to one room, like `first`. Nil if there is no such room.
    func link(to room: String) -> String? {
        if room == configuration.room { return first }
        guard let wanted = configuration.furtherRooms.first(where: { $0.name == room }) else { return nil }
        return "\(page)#\(key(wanted.name, wanted.token))"
    }

    /// The first room's name.
    var firstRoom: String { configuration.room }
    var roomNames: [String] { [configuration.room] + configuration.furtherRooms.map(\.name) }

    /// How to present in a room, or nil if no one may.
    func presenting(in room: String) -> LinksDocument.Presenting? {
        let token =
            room == configuration.room
            ? configuration.presentingToken : configuration.furtherRooms.first { $0.name == room }?.presentingToken
        return token.map {
            LinksDocument.Presenting(link: "\(page)#\(key(room, $0))", url: "\(page)whip/\(room)", token: $0)
        }
    }

    /// The URL of `/api`.
    var administration: String { "\(page)api" }

    private var page: Substring { first.prefix { $0 != "#" } }

    private func link(host: String) -> String {
        let scheme = configuration.certificate == nil ? "http" : "https"
        let address = ListenAddress(address: host, port: address.port)
        return "\(scheme)://\(address)/#\(key(configuration.room, configuration.token))"
    }

    private func key(_ room: String, _ token: String?) -> String {
        token.map { "\(room),\($0)" } ?? room
    }
}
