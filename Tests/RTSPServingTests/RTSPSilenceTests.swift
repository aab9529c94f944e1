import Ingest
import LinkTransport
import MediaTypes
import Opus
import RTP
import RTSPServing
import ScreenRelayKit
import Signalling
import TestSupport
import Testing
import TrackHub

@Suite("Silence by RTSP", .serialized)
struct RTSPSilenceTests {
    private let host: ScreenRelayHost
    private let folder: TemporaryFolder
    private let link: LinkServer
    private let server: RTSPServer
    private let source: SoundSource
    private let url: String

    init() throws {
        var configuration = HostConfiguration()
        configuration.token = nil
        host = try ScreenRelayHost(configuration)
        folder = try TemporaryFolder()
        let path = folder.file("link.sock")
        link = try host.firstTrack.openLink(at: .unix(path: path))
        server = try RTSPServer(host, at: ListenAddress(address: "127.0.0.1", port: 0))
        url = "rtsp://127.0.0.1:\(server.address.port)/screen"
        source = try SoundSource(path)
        try eventually("the sound") { [host] in host.firstTrack.soundState == .live }
    }

    private func end() {
        link.stop()
        host.stop()
    }

    @Test("a player that begins in a silence gets packets of it, and sound goes on behind them")
    func silence() throws {
        defer { end() }
        let client = try RTSPTestClient(port: server.address.port)
        for (index, stream) in ["trackID=2", "trackID=3"].enumerated() {
            _ = try client.ask("SETUP \(url)/\(stream)", index + 1, "Transport: RTP/AVP/TCP;unicast")
        }
        #expect(try client.ask("PLAY \(url)", 3).status == 200)
        func packets(_ channel: UInt8) throws -> [RTPPacket] {
            try client.packets.filter { $0.channel == channel }.map { try RTPPacket(parsing: $0.bytes[...]) }
        }
        try eventually("silence of both codecs") {
            try client.receive()
            return try packets(0).count >= 3 && packets(2).count >= 3
        }
        let (pcmu, opus) = (try packets(0), try packets(2))
        #expect(pcmu.allSatisfy { Array($0.payload) == [UInt8](repeating: 0xFF, count: 800) })
        #expect(opus.allSatisfy { OpusPacket($0.payload)?.duration == .milliseconds(100) && $0.payload.count < 20 })
        for (silence, step) in [(pcmu, 800), (opus, 4800)] {
            let first = silence[0].header
            #expect(first.marker)
            // Without gaps, so that players begin to play it.
            for (index, packet) in silence.prefix(3).enumerated() {
                #expect(first.timestamp.distance(to: packet.header.timestamp) == Int32(index * step))
            }
        }

        let begin = now()
        var sent: [[UInt8]] = []
        for index in 0..<5 { sent.append(try source.send(at: begin + SoundSource.step * Int64(index))) }
        try eventually("the sound") {
            try client.receive()
            return try packets(2).contains { Array($0.payload) == sent[4] }
        }
        let all = try packets(2)
        let times = all.map { all[0].header.timestamp.distance(to: $0.header.timestamp) }
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
        #expect(all.suffix(5).map { Array($0.payload) } == sent)
        // There is no more silence where there was sound.
        let count = all.count
        let later = now()
        try eventually("300 ms") {
            try client.receive()
            return now() - later > .milliseconds(300)
        }
        #expect(try packets(2).count == count)
    }
}
