import STUN
import SecureTransport
import Signalling
import WebRTC

/// The links that open the pages of a host's rooms: `http://HOST:PORT/#ROOM,TOKEN`, or `https:`.
struct RoomLinks {
    private let configuration: HostConfiguration
    /// Where HTTP really listens.
    private let address: ListenAddress
    /// Under which addresses other machines reach that, the best one first; empty for loopback, and where there is no network.
    let reachable: [String]

    /// - Parameters:
    ///   - addresses: where HTTP really listens; the first one is what links name.
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
        // It doesn't hear IPv6.
        case "0.0.0.0": reachable = interfaces().filter { $0.family == .ipv4 }.map(\.host)
        default: reachable = address.isLoopback ? [] : [address.address]
        }
    }

    /// The first room's: for others in this machine's network, or for the machine itself where no other reaches the host.
    var first: String {
        var host = reachable.first ?? (address.isLoopback ? address.address : "localhost")
        // A browser believes a certificate for its own names alone.
        if let certificate = configuration.certificate, !certificate.covers(address: host) {
            host = certificate.names.first ?? host
        }
        return link(host: host)
    }

    /// The first room's for those who reach the host by an advertised address, where its HTTP port is forwarded under its
    /// number.
    var advertised: [String] {
        configuration.advertised.map { link(host: $0.host) }
    }

    /// One room's, as `first`; nil where there is no such room.
    func link(to room: String) -> String? {
        if room == configuration.room { return first }
        guard let wanted = configuration.furtherRooms.first(where: { $0.name == room }) else { return nil }
        return "\(page)#\(key(wanted.name, wanted.token))"
    }

    /// The first room's name, and the names of all rooms.
    var firstRoom: String { configuration.room }
    var roomNames: [String] { [configuration.room] + configuration.furtherRooms.map(\.name) }

    /// What somebody needs who is to present in a room by WHIP; nil where nobody may.
    func presenting(in room: String) -> LinksDocument.Presenting? {
        let token =
            room == configuration.room
            ? configuration.presentingToken : configuration.furtherRooms.first { $0.name == room }?.presentingToken
        return token.map { LinksDocument.Presenting(url: "\(page)whip/\(room)", token: $0) }
    }

    /// Where `/api` is.
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

extension ListenAddress {
    fileprivate var isLoopback: Bool { address.hasPrefix("127.") || address == "::1" || address == "localhost" }
}
