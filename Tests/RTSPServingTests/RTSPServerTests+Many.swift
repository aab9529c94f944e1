import MediaTypes
import RTSPServing
import ScreenRelayKit
import Signalling
import TestSupport
import Testing

/// Many players.
extension RTSPServerTests {
    @Test("fifty players get every picture")
    func fifty() throws {
        defer { host.stop() }
        let server = try serve()
        track.write(pictures[0])
        let clients = try (0..<50).map { _ in try RTSPTestClient(port: server.address.port) }
        for client in clients { try play(client, server) }
        // One picture after the other: a player that reads a second late, as the last of fifty may, misses some, and
        // rightly so.
        for (index, picture) in pictures.enumerated() {
            if index > 0 { track.write(picture) }
            for client in clients {
                try eventually("picture \(index)") {
                    try client.receive()
                    return client.packets.count { $0.channel == 0 && $0.bytes[1] & 0x80 != 0 } == index + 1
                }
            }
        }
        for client in clients {
            #expect(
                try slices(inPackets: client.packets.filter { $0.channel == 0 }.map(\.bytes)) == slices(of: pictures))
        }
        #expect(server.sessions == 50)
    }

    @Test("those who only connect keep no player out, but players do when there are too many")
    func crowd() throws {
        defer { host.stop() }
        var limits = RTSPServerLimits()
        limits.connections = 3
        let server = try serve(limits: limits)
        track.write(pictures[0])
        let strangers = try (0..<3).map { _ in try RTSPTestClient(port: server.address.port) }
        for stranger in strangers { #expect(try stranger.ask("OPTIONS *", 1).status == 200) }
        var players: [RTSPTestClient] = []
        for stranger in strangers {
            let player = try RTSPTestClient(port: server.address.port)
            try play(player, server)
            players.append(player)
            // The oldest one has made room.
            try eventually("the end of a stranger") {
                try stranger.receive()
                return stranger.isClosed
            }
        }
        let last = try RTSPTestClient(port: server.address.port)
        try eventually("it is turned away") {
            try last.receive()
            return last.isClosed
        }
        #expect(server.sessions == 3)
    }
}
