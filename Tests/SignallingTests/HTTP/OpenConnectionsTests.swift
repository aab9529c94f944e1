import CGLib
import Testing

@testable import Signalling

/// Connections of clients on other machines, whose sockets aren't connected.
@Suite("Connections that make room for others")
final class OpenConnectionsTests {
    private let context = MainContext()
    private let open: OpenConnections
    private var streams: [UnsafeMutablePointer<GSocketConnection>] = []
    private var number: UInt64 = 0

    init() {
        var limits = SignallingLimits()
        (limits.connections, limits.connectionsPerAddress) = (40, 25)
        open = OpenConnections(limits: limits)
    }

    deinit {
        open.forgetAll()
        for stream in streams { g_object_unref(stream) }
    }

    /// Another connection; nil if there is no room for it.
    private func connect(from address: String) throws -> ClientConnection? {
        let family = address.contains(":") ? G_SOCKET_FAMILY_IPV6 : G_SOCKET_FAMILY_IPV4
        let socket = try #require(g_socket_new(family, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, nil))
        defer { g_object_unref(socket) }
        let remote = try #require(g_inet_socket_address_new_from_string(address, 1))
        let local = try #require(g_inet_socket_address_new_from_string("192.0.2.1", 1))
        defer {
            g_object_unref(remote)
            g_object_unref(local)
        }
        number += 1
        let connection = ClientConnection(
            socket: socket, local: local, remote: remote, number: number, proxies: TrustedProxies(ranges: []),
            on: context.pointer)
        guard open.makeRoom(for: connection) else { return nil }
        let stream = try #require(g_socket_connection_factory_create_connection(socket))
        streams.append(stream)
        open.keep(connection, until: UnsafeMutableRawPointer(stream).assumingMemoryBound(to: GIOStream.self))
        return connection
    }

    @Test(
        "are those of the addresses with the most, or of one customer's many addresses of IPv6",
        arguments: [
            (0..<60).map { "192.0.2.\(10 + $0 % 4)" }, (0..<60).map { "2001:db8:1:\($0)::1" },
            (0..<60).map { "2001:db8:1:\($0 / 2)::\($0)" },
        ])
    func crowd(_ addresses: [String]) throws {
        let strangers = try ["192.0.2.99", "2001:db8:2::1", "127.0.0.1"].map { try #require(try connect(from: $0)) }
        let crowd = try addresses.map { try #require(try connect(from: $0)) }
        #expect(strangers.allSatisfy { !$0.isDropped })
        #expect(crowd.count { $0.isDropped } == 23 && crowd.suffix(5).allSatisfy { !$0.isDropped })
        // Who has shown a token stays in any case.
        for connection in strangers + crowd where !connection.isDropped { connection.isAdmitted = true }
        #expect(try connect(from: "192.0.2.50") == nil)
    }

    @Test("are an address's own if it has too many")
    func ofAddress() throws {
        let other = try #require(try connect(from: "192.0.2.99"))
        let own = try (0..<27).map { _ in try #require(try connect(from: "192.0.2.1")) }
        #expect(!other.isDropped && own.map(\.isDropped) == (0..<27).map { $0 < 2 })
    }
}
