import Glibc
import H264
import MediaTypes
import Processes
import RTP
import RTSPServing
import ScreenRelayKit
import Signalling
import TestSupport
import Testing

@Suite("Serving by RTSP", .serialized)
struct RTSPServerTests {
    let host: ScreenRelayHost
    let track = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
    /// Keeps the track watched: with nobody there, a host keeps nothing of what is written.
    private let watcher: TrackSubscription
    let pictures: [CodedFrame]
    private let nextKeyFrame: CodedFrame

    init() throws {
        var configuration = HostConfiguration()
        configuration.room = "live.264"
        configuration.token = nil
        host = try ScreenRelayHost(configuration)
        // Those up to the second key frame, which is what a host keeps.
        let all = AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes())
        pictures = Array(all.prefix(25))
        nextKeyFrame = all[25]
        watcher = host.firstTrack.subscribe {}
        #expect(host.firstTrack.publish(track))
    }

    func serve(
        _ host: ScreenRelayHost? = nil, limits: RTSPServerLimits = RTSPServerLimits()
    ) throws -> RTSPServer {
        var limits = limits
        // What players get a second time is counted elsewhere.
        limits.secondStart = .seconds(3600)
        return try RTSPServer(host ?? self.host, at: ListenAddress(address: "127.0.0.1", port: 0), limits: limits)
    }

    func slices(of frames: [CodedFrame]) -> [[UInt8]] {
        frames.flatMap { frame in frame.units.map { Array(frame.bytes[$0]) } }
            .filter { [1, 5].contains(($0.first ?? 0) & 31) }
    }

    /// The slices of the pictures in packets of RTP, which must be in order.
    func slices(inPackets packets: [[UInt8]]) throws -> [[UInt8]] {
        var units: [[UInt8]] = []
        var payloads: [ArraySlice<UInt8>] = []
        var last: SequenceNumber?
        for bytes in packets {
            let packet = try RTPPacket(parsing: bytes[...])
            if let last { #expect(packet.header.sequenceNumber == last.next) }
            last = packet.header.sequenceNumber
            payloads.append(packet.payload)
            guard packet.header.marker else { continue }
            units += try #require(TrackFormat.Codec.h264.depacketizer.contents(of: payloads)).units.map {
                Array($0.dropFirst(4))
            }
            payloads = []
        }
        return units.filter { [1, 5].contains(($0.first ?? 0) & 31) }
    }

    /// Sets up a session over the connection, and begins to play.
    func play(_ client: RTSPTestClient, _ server: RTSPServer) throws {
        let url = "rtsp://127.0.0.1:\(server.address.port)/live.264"
        let setUp = try client.ask("SETUP \(url)/track1", 1, "Transport: RTP/AVP/TCP;unicast;interleaved=0-1")
        #expect(setUp.status == 200)
        #expect(try client.ask("PLAY \(url)", 2).status == 200)
    }

    @Test("a client that sends an odd port, no session and headers of its own gets every picture on a still screen")
    func oddClient() throws {
        defer { host.stop() }
        let server = try serve()
        for picture in pictures { track.write(picture) }
        let ports = try OddPorts()
        let client = try RTSPTestClient(port: server.address.port)
        let url = "rtsp://127.0.0.1:\(server.address.port)/live.264"
        client.send("OPTIONS \(url) RTSP/1.0\r\nCSeq: 1\r\nUser-Agent: x\r\n\r\n")
        #expect(try client.answer().headers["public"]?.contains("DESCRIBE") == true)
        client.send("DESCRIBE \(url) RTSP/1.0\r\nCSeq: 2\r\nAccept: application/sdp\r\n\r\n")
        let description = try client.answer()
        #expect(description.headers["content-type"] == "application/sdp")
        #expect(description.headers["content-base"] == "\(url)/")
        #expect(description.body.contains("a=control:track1\r\n"))
        client.send(
            "SETUP \(url)/track1 RTSP/1.0\r\nCSeq: 3\r\n"
                + "Transport: RTP/AVP/UDP;unicast;client_port=\(ports.number)-\(ports.number + 1)\r\n"
                + "x-Dynamic-Rate: 0\r\n\r\n")
        let setUp = try client.answer()
        let session = try #require(setUp.headers["session"]?.split(separator: ";").first)
        #expect(session.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
        let transport = try #require(setUp.headers["transport"])
        let serverPorts = try #require(
            transport.split(separator: ";").first { $0.hasPrefix("server_port=") }?.dropFirst(12).split(separator: "-")
                .compactMap { UInt16($0) })
        try eventually("the session counts") { server.sessions == 1 }
        client.send("PLAY \(url) RTSP/1.0\r\nCSeq: 4\r\nRange: npt=0.000-\r\n\r\n")
        let info = try #require(try client.answer().headers["rtp-info"])
        #expect(info.hasPrefix("url=\(url)/track1;seq="))

        var packets: [[UInt8]] = []
        try eventually("all pictures") {
            packets += ports.takeMedia()
            return packets.count { $0[1] & 0x80 != 0 } == pictures.count
        }
        #expect(try slices(inPackets: packets) == slices(of: pictures))
        let first = try RTPPacket(parsing: packets[0][...]).header
        #expect(info.hasSuffix(";seq=\(first.sequenceNumber);rtptime=\(first.timestamp)"))
        // What was there is shown at once: the clock of the packets runs for the time of a few milliseconds.
        let last = try RTPPacket(parsing: packets[packets.count - 1][...]).header
        #expect((1...9000).contains(first.timestamp.distance(to: last.timestamp)))

        track.write(pictures[0])
        try eventually("one more picture") {
            packets += ports.takeMedia()
            return packets.count { $0[1] & 0x80 != 0 } == pictures.count + 1
        }
        let report = try eventually("a report") { ports.takeReports().first }
        #expect(report.port == serverPorts[1])
        guard case .senderReport(let sender)? = try RTCPPacket.parse(report.bytes[...]).first else {
            Issue.record("no sender report")
            return
        }
        #expect(sender.ssrc == first.ssrc && sender.packetCount > 0)
        #expect(try client.ask("TEARDOWN \(url)", 5, "Session: \(session)").status == 200)
        try eventually("the session has ended") { server.sessions == 0 }
    }

    @Test(
        "FFmpeg gets the pictures byte for byte, with Digest where a token is wanted", .enabled(if: FFmpeg.isAvailable),
        arguments: ["udp", "tcp"], [false, true])
    func ffmpeg(_ transport: String, hasToken: Bool) throws {
        defer { host.stop() }
        var configuration = HostConfiguration()
        if !hasToken { configuration.token = nil }
        let other = try StillHost(configuration, showing: pictures)
        defer { withExtendedLifetime(other) {} }
        let server = try serve(other.host)
        let user = configuration.token.map { "viewer:\($0)@" } ?? ""
        let folder = try TemporaryFolder()
        let raw = folder.file("played.264")
        // FFmpeg 7 waits for one more picture once it has written what it was asked for; it must not be still for ever.
        let played = try FFmpeg.run([
            "-rtsp_transport", transport, "-fpsprobesize", "0", "-i",
            "rtsp://\(user)127.0.0.1:\(server.address.port)/screen", "-c", "copy",
            "-frames:v", "24", "-f", "h264", raw,
        ]) { other.repeatLast() }
        #expect(played.status == .exited(0) && played.faults.isEmpty, "\(played.messages)")
        let received = AccessUnitBuilder.accessUnits(inAnnexB: try fileBytes(raw))
        #expect(slices(of: received) == slices(of: Array(pictures.prefix(24))))
        try eventually("the session has ended") { server.sessions == 0 }
    }

    @Test("a player that stops reading delays nobody, and goes on with a key frame")
    func stalled() throws {
        defer { host.stop() }
        let server = try serve()
        track.write(pictures[0])
        let (slow, quick) = (
            try RTSPTestClient(port: server.address.port, receiveBuffer: 64 << 10),
            try RTSPTestClient(port: server.address.port)
        )
        try play(slow, server)
        try play(quick, server)
        func marks(_ client: RTSPTestClient) -> Int {
            client.packets.count { $0.channel == 0 && $0.bytes[1] & 0x80 != 0 }
        }
        // Key frames of a quarter of a megabyte each: more than the kernel keeps for who doesn't read.
        let large = pictures[0].padded(by: 250_000)
        for count in 2...60 {
            track.write(large)
            try eventually("picture \(count)") {
                try quick.receive()
                return marks(quick) == count
            }
        }
        #expect(server.sessions == 2)
        #expect(try slices(inPackets: quick.packets.filter { $0.channel == 0 }.map(\.bytes)).count == 60)
        // What it reads now is whole, and ends with the newest, without all those that came meanwhile.
        track.write(nextKeyFrame)
        let wanted = slices(of: [nextKeyFrame])
        try eventually("the newest picture") {
            try slow.receive()
            let media = slow.packets.filter { $0.channel == 0 }.map(\.bytes)
            guard media.last.map({ $0[1] & 0x80 != 0 }) == true else { return false }
            let seen = try slices(inPackets: media)
            return seen.suffix(wanted.count) == wanted[...] && seen.count < 60
        }
    }

    @Test("a session ends with its connection, and over UDP without a sign of life")
    func vanished() throws {
        defer { host.stop() }
        var limits = RTSPServerLimits()
        limits.timeout = .seconds(3)
        let server = try serve(limits: limits)
        track.write(pictures[0])
        let ports = try OddPorts()
        let url = "rtsp://127.0.0.1:\(server.address.port)/live.264"
        let silent = try RTSPTestClient(port: server.address.port)
        let transport = "Transport: RTP/AVP;unicast;client_port=\(ports.number)-\(ports.number + 1)"
        let setUp = try silent.ask("SETUP \(url)", 1, transport)
        let port = try #require(
            setUp.headers["transport"]?.split(separator: ";").first { $0.hasPrefix("server_port=") }?
                .split(separator: "-").last.flatMap { UInt16($0) })
        #expect(try silent.ask("PLAY \(url)", 2).status == 200)
        let end = now() + .milliseconds(4500)
        while now() < end {
            ports.report(to: port)
            poll(nil, 0, 50)
        }
        #expect(server.sessions == 1)
        try eventually("it has ended") {
            try silent.receive()
            return silent.isClosed && server.sessions == 0
        }
        do {
            let gone = try RTSPTestClient(port: server.address.port)
            try play(gone, server)
            try eventually("it plays") { server.sessions == 1 }
        }
        try eventually("it has ended") { server.sessions == 0 }
    }

    @Test("a track without a picture is described when it has one, or not at all")
    func noPicture() throws {
        defer { host.stop() }
        var limits = RTSPServerLimits()
        limits.firstPicture = .milliseconds(200)
        let server = try serve(limits: limits)
        let client = try RTSPTestClient(port: server.address.port)
        #expect(try client.ask("DESCRIBE rtsp://h/live.264", 1).status == 503)
        #expect(try client.ask("DESCRIBE rtsp://h/live.264/other", 2).status == 404)
        let patient = try serve()
        let other = try RTSPTestClient(port: patient.address.port)
        other.send("DESCRIBE rtsp://h/ RTSP/1.0\r\nCSeq: 1\r\n\r\nOPTIONS * RTSP/1.0\r\nCSeq: 2\r\n\r\n")
        poll(nil, 0, 50)
        track.write(pictures[0])
        #expect(try other.answer().body.contains("s=live.264/screen\r\n"))
        #expect(try other.answer().headers["cseq"] == "2")
    }

    @Test("a port that is taken is told as such")
    func taken() throws {
        defer { host.stop() }
        let server = try serve()
        #expect(throws: ServerError.self) { try RTSPServer(host, at: server.address) }
        do {
            _ = try RTSPServer(host, at: server.address)
        } catch {
            #expect(error.isTaken && "\(error)" == "the port \(server.address.port) is taken by another program")
        }
    }
}
