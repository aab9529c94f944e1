import Foundation
import H264
import MediaTypes
import RTP
import RTSPServing
import ScreenRelayKit
import Signalling
import TestSupport
import Testing
import TrackHub

@Suite("Publishing by ANNOUNCE and RECORD", .serialized)
struct RTSPRecordTests {
    private let host: ScreenRelayHost
    private let server: RTSPServer
    private let url: String
    private let pictures: [CodedFrame]
    private let credentials = RTSPRecordTests.basic("presenter:presenting")

    init() throws {
        var configuration = HostConfiguration()
        configuration.room = "live.264"
        configuration.token = "viewing"
        configuration.presentingToken = "presenting"
        host = try ScreenRelayHost(configuration)
        var limits = RTSPServerLimits()
        limits.publishing.greeting = .seconds(2)
        limits.publishing.silence = .seconds(2)
        limits.publishing.bytesPerSecond = 1_000_000
        limits.publishing.unpublished = .milliseconds(100)
        limits.publishing.publishers = 2
        server = try RTSPServer(host, at: ListenAddress(address: "127.0.0.1", port: 0), limits: limits)
        url = "rtsp://127.0.0.1:\(server.address.port)/live.264"
        pictures = Array(AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes()).prefix(25))
    }

    private func stop() {
        server.stop()
        host.stop()
    }

    /// The header with this user and password.
    private static func basic(_ credentials: String) -> String {
        "Authorization: Basic \(Data(credentials.utf8).base64EncodedString())"
    }

    private let video =
        "v=0\r\no=- 0 0 IN IP4 0.0.0.0\r\ns=x\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"
    private let names = "a=control:track1\r\nm=audio 0 RTP/AVP 0\r\na=control:track2\r\n"

    private func announce(
        _ client: RTSPTestClient, _ description: String, at url: String? = nil, _ headers: String...
    ) throws -> RTSPTestClient.Answer {
        let lines =
            ["ANNOUNCE \(url ?? self.url) RTSP/1.0", "CSeq: 1", "Content-Type: application/sdp"] + headers + [
                "Content-Length: \(description.utf8.count)", "", "",
            ]
        client.send(lines.joined(separator: "\r\n") + description)
        return try client.answer()
    }

    /// The packets of each picture, the first of which has this number, after so many other pictures.
    private func packets(from number: UInt16 = 65_530, after earlier: Int = 0) -> [[[UInt8]]] {
        var number = SequenceNumber(number)
        let packetizer = TrackFormat.Codec.h264.packetizer
        return pictures.enumerated().map { index, picture -> [[UInt8]] in
            let time = MediaTime(ticks: Int64(earlier + index) * 3600)
            let frame = packetizer.packetize(picture, at: time, format: TrackFormat(codec: .h264))
            return frame.packets.enumerated().map { place, payload -> [UInt8] in
                var bytes: [UInt8] = []
                RTPPacketHeader(
                    marker: place == frame.packets.count - 1, payloadType: PayloadType(96), sequenceNumber: number,
                    timestamp: RTPTimestamp(time, offset: .max - 7200), ssrc: SSRC(7)
                ).write(into: &bytes)
                payload.append(to: &bytes, from: picture.bytes)
                number = number.next
                return bytes
            }
        }
    }

    private var isGone: Bool { if case .gone = host.firstTrack.sourceState { true } else { false } }

    private func slices(of frames: [CodedFrame]) -> [[UInt8]] { frames.flatMap(\.slices) }

    @Test("takes the requests of a client that names no session and no mode, and its pictures over UDP, in any order")
    func oddClient() throws {
        defer { stop() }
        let reader = host.firstTrack.subscribe {}
        let (ports, stranger) = (try OddPorts(), try OddPorts())
        let client = try RTSPTestClient(port: server.address.port)
        #expect(try announce(client, video + names, credentials).status == 200)
        let setUp = try client.ask(
            "SETUP \(url)/track1", 2,
            "Transport: RTP/AVP/UDP;unicast;client_port=\(ports.number)-\(ports.number + 1)", "x-Dynamic-Rate: 0")
        let transport = try #require(setUp.headers["transport"])
        #expect(transport.hasSuffix(";mode=record"))
        let serverPorts = try #require(
            transport.split(separator: ";").first { $0.hasPrefix("server_port=") }?.dropFirst(12).split(separator: "-")
                .compactMap { UInt16($0) })
        #expect(try client.ask("RECORD \(url)", 3, "Range: npt=0.000-").status == 200)
        try eventually("the publisher counts") { server.publishers == 1 && server.sessions == 0 }

        var packets = Array(packets().joined())
        // From another port of the same machine: a packet that would be taken before all others.
        stranger.send(packets[packets.count - 1], to: serverPorts[0])
        packets.swapAt(3, 5)
        for packet in packets { ports.send(packet, to: serverPorts[0]) }
        var received: [CodedFrame] = []
        try eventually("all pictures") {
            received += reader.take().map(\.coded)
            return received.count == pictures.count
        }
        #expect(slices(of: received) == slices(of: pictures))
        let report = try eventually("a report") { ports.takeReports().first }
        #expect(report.port == serverPorts[1])
        let reception = try RTCPPacket.parse(report.bytes[...]).first?.receptionReports.first
        #expect(reception?.ssrc == SSRC(7) && reception?.cumulativeLost == 0)
        #expect(try client.ask("TEARDOWN \(url)", 4).status == 200)
        try eventually("it has left") { server.publishers == 0 && isGone }
    }

    @Test("leaves out pictures that depend on a lost one, up to the next key frame")
    func loss() throws {
        defer { stop() }
        let reader = host.firstTrack.subscribe {}
        let client = try RTSPTestClient(port: server.address.port)
        try record(client)
        let first = Array(packets().joined())
        let lost = packets().prefix(3).reduce(0) { $0 + $1.count }
        let second = packets(from: UInt16(truncatingIfNeeded: 65_530 + first.count)).joined()
        for packet in first[..<lost] + first[(lost + 1)...] + second { send(packet, client) }
        var received: [CodedFrame] = []
        try eventually("the second round") {
            received += reader.take().map(\.coded)
            return received.count { $0.isRandomAccess } == 2 && received.last?.slices == pictures.last?.slices
        }
        let places = LoopedPictures(pictures).places(of: received)
        let end = try #require(places.dropFirst().firstIndex(of: 0))
        #expect(Array(places[end...]) == Array(0..<pictures.count))
        #expect(places[..<end].elementsEqual(0..<end) && end < pictures.count)
    }

    /// Announces video alone, and begins to send it over the connection.
    private func record(_ client: RTSPTestClient) throws {
        #expect(try announce(client, video, credentials).status == 200)
        #expect(try client.ask("SETUP \(url)", 2, "Transport: RTP/AVP/TCP;interleaved=0-1;mode=record").status == 200)
        #expect(try client.ask("RECORD \(url)", 3).status == 200)
    }

    private func send(_ packet: [UInt8], _ client: RTSPTestClient) {
        client.send([0x24, 0, UInt8(packet.count >> 8), UInt8(packet.count & 0xFF)] + packet)
    }

    @Test("ignores what arrives between PAUSE and RECORD")
    func paused() throws {
        defer { stop() }
        let reader = host.firstTrack.subscribe {}
        let client = try RTSPTestClient(port: server.address.port)
        try record(client)
        let first = packets()
        let sent = Array(first[..<2].joined())
        for packet in sent { send(packet, client) }
        #expect(try client.ask("PAUSE \(url)", 4).status == 200)
        for packet in first[2] { send(packet, client) }
        #expect(try client.ask("RECORD \(url)", 5).status == 200)
        // With the numbers of those that were ignored.
        let second = packets(from: UInt16(truncatingIfNeeded: 65_530 + sent.count), after: pictures.count)
        for packet in second.joined() { send(packet, client) }
        var received: [CodedFrame] = []
        try eventually("the second round") {
            received += reader.take().map(\.coded)
            return received.last?.slices == pictures.last?.slices
        }
        #expect(slices(of: received) == slices(of: Array(pictures[..<2]) + pictures))
    }

    @Test("wants the presenters' token, and says nothing of rooms without it")
    func tokens() throws {
        defer { stop() }
        let client = try RTSPTestClient(port: server.address.port)
        #expect(try announce(client, video).status == 401)
        #expect(try announce(client, video, Self.basic("viewer:viewing")).status == 401)
        #expect(try announce(client, video, at: "rtsp://h/nowhere", credentials).status == 401)
        #expect(host.firstTrack.sourceState == .waiting && server.publishers == 0)
    }

    @Test("wants the token as the password of any user, and the room's password as the user if there is one")
    func users() throws {
        defer { stop() }
        let first = try RTSPTestClient(port: server.address.port)
        #expect(try announce(first, video, Self.basic("presenting:anyone")).status == 401)
        #expect(try announce(first, video, Self.basic("anyone:presenting")).status == 200)
        var configuration = host.configuration
        configuration.password = "sesame"
        host.use(accessOf: configuration)
        let second = try RTSPTestClient(port: server.address.port)
        #expect(try announce(second, video, at: url + "/other", Self.basic("anyone:presenting")).status == 401)
        #expect(try announce(second, video, at: url + "/other", Self.basic("sesame:viewing")).status == 401)
        #expect(try announce(second, video, at: url + "/other", Self.basic("sesame:presenting")).status == 200)
    }

    @Test("is refused with 503 and the reason if there are too many publishers")
    func full() throws {
        defer { stop() }
        let clients = try (0..<3).map { _ in try RTSPTestClient(port: server.address.port) }
        for client in clients.dropLast() {
            let track = client === clients[0] ? "/one" : "/two"
            #expect(try announce(client, video, at: url + track, credentials).status == 200)
        }
        let refused = try announce(clients[2], video, at: url + "/three", credentials)
        #expect(refused.status == 503 && refused.reason == "the host already has 2 publishers over RTSP")
    }

    @Test("is for one client at a time, and what can't be published is refused with the reason")
    func refusals() throws {
        defer { stop() }
        let first = try RTSPTestClient(port: server.address.port)
        try record(first)
        for packet in packets().joined() { send(packet, first) }
        try eventually("the first one") { host.firstTrack.sourceState == .live }
        let second = try RTSPTestClient(port: server.address.port)
        #expect(try announce(second, video, credentials).status == 403)
        #expect(try announce(second, "v=0\r\ns=x\r\n", at: url + "/other", credentials).status == 415)
        #expect(try announce(second, video, at: url + "/other", credentials).status == 200)
        // Nobody sends into it.
        try eventually("the end of the announcement") {
            try second.receive()
            return second.isClosed
        }
        try eventually("the end of its track") { host.track("other", in: "live.264") == nil }
    }

    @Test("ends for a client that stalls and sends only requests, and for one that floods")
    func limits() throws {
        defer { stop() }
        let silent = try RTSPTestClient(port: server.address.port)
        try record(silent)
        for packet in packets().prefix(2).joined() { send(packet, silent) }
        try eventually("its picture") { host.firstTrack.sourceState == .live }
        try eventually("its end") {
            silent.send("GET_PARAMETER \(url) RTSP/1.0\r\nCSeq: 4\r\n\r\n")
            try silent.receive()
            return silent.isClosed
        }
        let flood = try eventually("the track is free") {
            let client = try RTSPTestClient(port: server.address.port)
            return try announce(client, video, credentials).status == 200 ? client : nil
        }
        #expect(try flood.ask("SETUP \(url)", 2, "Transport: RTP/AVP/TCP;interleaved=0-1").status == 200)
        #expect(try flood.ask("RECORD \(url)", 3).status == 200)
        let packet = try #require(packets().joined().first)
        let filler = packet + [UInt8](repeating: 1, count: 60_000 - packet.count)
        try eventually("its end") {
            send(filler, flood)
            try flood.receive()
            return flood.isClosed
        }
    }
}
