import Foundation
import H264
import MediaTypes
import RTSPServing
import ScreenRelayKit
import Signalling
import TestSupport
import Testing

@Suite("Who may watch by RTSP")
struct RTSPAccessTests {
    private let pictures: [CodedFrame]

    init() throws {
        pictures = Array(AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes()).prefix(25))
    }

    @Test("without the token there is nothing, nor for a room that doesn't exist, and whoever guesses is cut off")
    func tokens() throws {
        let configuration = HostConfiguration()
        let other = try StillHost(configuration, showing: pictures)
        defer { withExtendedLifetime(other) {} }
        let server = try RTSPServer(other.host, at: ListenAddress(address: "127.0.0.1", port: 0))
        let client = try RTSPTestClient(port: server.address.port)
        for room in ["screen", "nowhere"] {
            let refused = try client.ask("DESCRIBE rtsp://h/\(room)", 1)
            #expect(refused.status == 401)
            #expect(refused.challenges.count == 2 && refused.challenges[1] == "Basic realm=\"screenrelay\"")
        }
        let token = try #require(configuration.token)
        let right = base64("viewer:\(token)")
        #expect(try client.ask("DESCRIBE rtsp://h/screen", 2, "Authorization: Basic \(right)").status == 200)
        #expect(try client.ask("DESCRIBE rtsp://h/nowhere", 3, "Authorization: Basic \(right)").status == 401)
        #expect(try client.ask("SETUP rtsp://h/screen/track1", 4, "Transport: RTP/AVP/TCP").status == 401)
        for number in 5..<12 {
            #expect(
                try client.ask("DESCRIBE rtsp://h/screen", number, "Authorization: Basic \(base64("a:b"))").status
                    == 401)
        }
        try eventually("it is cut off") {
            try client.receive()
            return client.isClosed
        }
    }

    @Test("another token and password count from the next request on")
    func replaced() throws {
        var configuration = HostConfiguration()
        let other = try StillHost(configuration, showing: pictures)
        defer { withExtendedLifetime(other) {} }
        let server = try RTSPServer(other.host, at: ListenAddress(address: "127.0.0.1", port: 0))
        let client = try RTSPTestClient(port: server.address.port)
        let first = try #require(configuration.token)
        func status(_ number: Int, _ credentials: String) throws -> Int {
            try client.ask("DESCRIBE rtsp://h/screen", number, "Authorization: Basic \(base64(credentials))").status
        }
        #expect(try status(1, "viewer:\(first)") == 200)
        (configuration.token, configuration.password) = ("another-token-of-16", "Sesam")
        other.host.use(accessOf: configuration)
        #expect(other.host.link.hasSuffix(",another-token-of-16"))
        #expect(try status(2, "viewer:\(first)") == 401)
        #expect(try status(3, "viewer:another-token-of-16") == 401)
        #expect(try status(4, "Sesam:another-token-of-16") == 200)
    }

    @Test("a room's password is the user's name, by Basic alone")
    func password() throws {
        var configuration = HostConfiguration()
        configuration.password = "Sesam"
        let other = try StillHost(configuration, showing: pictures)
        defer { withExtendedLifetime(other) {} }
        let server = try RTSPServer(other.host, at: ListenAddress(address: "127.0.0.1", port: 0))
        let client = try RTSPTestClient(port: server.address.port)
        #expect(try client.ask("DESCRIBE rtsp://h/screen", 1).challenges == ["Basic realm=\"screenrelay\""])
        let token = try #require(configuration.token)
        let wrong = try client.ask("DESCRIBE rtsp://h/screen", 2, "Authorization: Basic \(base64("viewer:\(token)"))")
        #expect(wrong.status == 401)
        let right = try client.ask("DESCRIBE rtsp://h/screen", 3, "Authorization: Basic \(base64("Sesam:\(token)"))")
        #expect(right.status == 200)
    }

    @Test("after twenty wrong passwords an address has to wait, with new connections too; wrong tokens don't count")
    func guesses() throws {
        var configuration = HostConfiguration()
        configuration.password = "Sesam"
        let other = try StillHost(configuration, showing: pictures)
        defer { withExtendedLifetime(other) {} }
        let server = try RTSPServer(other.host, at: ListenAddress(address: "127.0.0.1", port: 0))
        let token = try #require(configuration.token)
        func status(_ credentials: String) throws -> Int {
            let client = try RTSPTestClient(port: server.address.port)
            return try client.ask("DESCRIBE rtsp://h/screen", 1, "Authorization: Basic \(base64(credentials))").status
        }
        for _ in 0..<30 { #expect(try status("Sesam:wrong") == 401) }
        #expect(try status("Sesam:\(token)") == 200)
        // One is forgotten each second.
        try eventually("the limit") {
            #expect(try status("guess:\(token)") == 401)
            return try status("Sesam:\(token)") == 401
        }
        try eventually("another try") { try status("Sesam:\(token)") == 200 }
    }
}

private func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
