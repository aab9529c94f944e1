import Foundation
import H264
import MediaTypes
import RTSPServing
import ScreenRelayKit
import Signalling
import TestSupport
import Testing

@Suite("RTSP players and a room's door")
struct RTSPDoorTests {
    private let pictures: [CodedFrame]

    init() throws {
        pictures = Array(AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes()).prefix(25))
    }

    private func basic(_ token: String) -> String {
        "Authorization: Basic " + Data("viewer:\(token)".utf8).base64EncodedString()
    }

    @Test("a locked room is refused with its reason, a player that is set up goes on, and presenters are let in")
    func locked() throws {
        var configuration = HostConfiguration()
        (configuration.token, configuration.presentingToken) = ("audience-of-16-bytes", "presenter-of-16-byte")
        let other = try StillHost(configuration, showing: pictures)
        defer { withExtendedLifetime(other) {} }
        let server = try RTSPServer(other.host, at: ListenAddress(address: "127.0.0.1", port: 0))
        let viewer = basic("audience-of-16-bytes")
        let within = try RTSPTestClient(port: server.address.port)
        #expect(try within.ask("DESCRIBE rtsp://h/screen", 1, viewer).status == 200)
        let transport = "Transport: RTP/AVP/TCP;unicast;interleaved=0-1"
        #expect(try within.ask("SETUP rtsp://h/screen/track1", 2, transport, viewer).status == 200)
        let described = try RTSPTestClient(port: server.address.port)
        #expect(try described.ask("DESCRIBE rtsp://h/screen", 1, viewer).status == 200)
        #expect(other.host.lock(true, room: "screen"))
        #expect(!other.host.lock(true, room: "nowhere"))
        let refused = try described.ask("SETUP rtsp://h/screen/track1", 2, transport, viewer)
        #expect(refused.status == 403 && refused.reason == "the room is locked")
        #expect(try described.ask("DESCRIBE rtsp://h/screen", 3, basic("wrong")).status == 401)
        #expect(try described.ask("DESCRIBE rtsp://h/screen", 4).status == 401)
        #expect(try within.ask("DESCRIBE rtsp://h/screen", 3, viewer).status == 200)
        let presenter = try RTSPTestClient(port: server.address.port)
        #expect(try presenter.ask("DESCRIBE rtsp://h/screen", 1, basic("presenter-of-16-byte")).status == 200)
        #expect(other.host.lock(false))
        #expect(try described.ask("SETUP rtsp://h/screen/track1", 5, transport, viewer).status == 200)
    }

    @Test("a connection to an open room that has a waiting room ends after eight wrong tokens")
    func wrongTokens() throws {
        var configuration = HostConfiguration()
        (configuration.token, configuration.presentingToken) = (nil, "presenter-of-16-byte")
        configuration.hasWaitingRoom = true
        let other = try StillHost(configuration, showing: pictures)
        defer { withExtendedLifetime(other) {} }
        let server = try RTSPServer(other.host, at: ListenAddress(address: "127.0.0.1", port: 0))
        let client = try RTSPTestClient(port: server.address.port)
        for number in 1...8 {
            #expect(try client.ask("DESCRIBE rtsp://h/screen", number, basic("wrong")).status == 403)
        }
        try eventually("it is cut off") {
            try client.receive()
            return client.isClosed
        }
    }

    @Test("in a room with a waiting room, open or not, players need the presenters' token", arguments: [true, false])
    func waitingRoom(isOpen: Bool) throws {
        var configuration = HostConfiguration()
        configuration.token = isOpen ? nil : "audience-of-16-bytes"
        configuration.presentingToken = "presenter-of-16-byte"
        configuration.hasWaitingRoom = true
        let other = try StillHost(configuration, showing: pictures)
        defer { withExtendedLifetime(other) {} }
        let server = try RTSPServer(other.host, at: ListenAddress(address: "127.0.0.1", port: 0))
        let client = try RTSPTestClient(port: server.address.port)
        #expect(try client.ask("DESCRIBE rtsp://h/screen", 1).status == 401)
        let refused = try client.ask("DESCRIBE rtsp://h/screen", 2, basic("audience-of-16-bytes"))
        #expect(refused.status == 403 && refused.reason.contains("wait on its page"))
        #expect(try client.ask("DESCRIBE rtsp://h/screen", 3, basic("presenter-of-16-byte")).status == 200)
        #expect(other.host.decide(.admit, entryOf: nil) == 0)
        #expect(other.host.door(of: "screen").hasWaitingRoom)
    }
}
