import LinkTransport
import MediaTypes
import Processes
import RTMPServing
import ScreenRelayKit
import SecureTransport
import Signalling
import TestSupport
import Testing

@Suite("Publishers over RTMPS", .enabled(if: FFmpeg.isAvailable), .serialized)
struct RTMPSServerTests {
    private let certificate: ServerCertificate
    private let room: PublishedRoom<RTMPServer>

    init() throws {
        let made = try Self.makeCertificate()
        certificate = made
        room = try PublishedRoom(certificate: made) { host, address, log in
            var limits = PublisherLimits()
            limits.greeting = .seconds(2)
            return try RTMPServer(host, at: address, limits: limits, connections: 100, log: log)
        }
    }

    private static func makeCertificate() throws -> ServerCertificate {
        try ServerCertificate.made(names: ["localhost"], addresses: ["127.0.0.1"])
    }

    /// Starts FFmpeg, which publishes with this stream key if it trusts the server's certificate. Nil means moving
    /// pictures and a tone, as H.264 without B-frames and AAC.
    private func publish(
        _ codecs: [String]? = nil, from input: [String]? = nil, to key: String = "screen?token=presenting",
        trusting known: ServerCertificate
    ) throws -> ChildProcess {
        let store = try room.folder.write("trusted.pem", Array(known.pem.utf8))
        let url = "rtmps://127.0.0.1:\(room.server.address.port)/live/\(key)"
        return try room.publish(
            input ?? room.moving + room.tone, codecs ?? room.h264 + room.aac,
            to: ["-f", "flv", "-tls_verify", "1", "-ca_file", store, url])
    }

    @Test("are passed on as they are, bit for bit")
    func passedOn() throws {
        defer { room.stop() }
        let reader = room.host.firstTrack.subscribe {}
        let sender = try publish(["-c", "copy"], from: ["-i", try room.movie()], trusting: certificate)
        defer { sender.stop(within: .zero) }
        try room.expectAllPictures(from: reader)
        try room.expectEnd(of: sender, within: .seconds(10))
    }

    @Test("get the certificate that the host has when they connect, and stay when it gets another one")
    func reloaded() throws {
        defer { room.stop() }
        let first = try publish(trusting: certificate)
        defer { first.stop(within: .zero) }
        try eventually("the first one") { room.host.firstTrack.sourceState == .live }
        let other = try Self.makeCertificate()
        try room.host.use(other)
        let key = "screen/other?token=presenting"
        let text = room.failure(of: try publish(to: key, trusting: certificate))
        #expect(text.contains("certificate"), "\(text)")
        let second = try publish(to: key, trusting: other)
        defer { second.stop(within: .zero) }
        try eventually("another track") { room.host.track("other", in: "screen")?.sourceState == .live }
        #expect(room.server.publishers == 2)
    }

    @Test("may do without TLS at the same port")
    func plain() throws {
        defer { room.stop() }
        let url = "rtmp://127.0.0.1:\(room.server.address.port)/live/screen?token=presenting"
        let sender = try room.publish(room.moving + room.tone, room.h264 + room.aac, to: ["-f", "flv", url])
        defer { sender.stop(within: .zero) }
        try eventually("the publisher") { room.host.firstTrack.sourceState == .live }
    }

    @Test("stay, and can connect, while others send half a TLS handshake, whose connections end")
    func silent() throws {
        defer { room.stop() }
        let first = try publish(trusting: certificate)
        defer { first.stop(within: .zero) }
        try eventually("the first one") { room.host.firstTrack.sourceState == .live }
        // A record of 512 bytes, which a ClientHello fills.
        let half: [UInt8] = [22, 3, 1, 2, 0, 1, 0, 1, 252] + [UInt8](repeating: 0, count: 200)
        let silent = try (0..<200).map { _ -> SocketConnection in
            let connection = try SocketConnection.connect(to: .tcp(host: "127.0.0.1", port: room.server.address.port))
            try connection.enqueue(header: half)
            return connection
        }
        let second = try publish(to: "screen/other?token=presenting", trusting: certificate)
        defer { second.stop(within: .zero) }
        try eventually("another track") { room.host.track("other", in: "screen")?.sourceState == .live }
        var buffer = [UInt8](repeating: 0, count: SocketConnection.minBuffer)
        try eventually("the end of the silent ones") {
            try silent.allSatisfy { try $0.receive(into: &buffer) == .closed }
        }
        #expect(room.server.publishers == 2)
    }
}
