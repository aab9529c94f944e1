import MediaSessions
import MediaTypes
import RTP
import STUN
import TestSupport
import Testing
import Threading
import TrackHub

@testable import WebRTC

/// profile_idc of High 4:4:4 Predictive.
private let high444: UInt8 = 0xF4

@Suite("A track that changes its profile")
struct ChromaChangeTests {
    @Test("goes on in the same stream under the other payload type, from the IDR on", arguments: [true, false])
    func payloadTypes(hasRetransmission: Bool) throws {
        let rig = try Rig()
        let peer = try rig.join(hasRetransmission: hasRetransmission)
        for profile in [0x42, high444, 0x42] {
            rig.publish { Pictures.idr(30_000, seed: UInt64(profile), captured: $0, profile: profile) }
            rig.run(for: .milliseconds(33))
            for seed in 0..<3 as Range<UInt64> {
                rig.publish { Pictures.delta(3_000, seed: seed, captured: $0) }
                rig.run(for: .milliseconds(33))
            }
        }
        rig.run(for: .seconds(1))
        #expect(peer.wholePictures == rig.published.map(\.contents))
        let media = peer.mediaPackets.filter { !$0.rtp.payload.isEmpty }
        #expect(Set(media.map(\.rtp.header.ssrc)) == [peer.viewer.settings.media])
        // One payload type for each picture, by its time stamp.
        var types: [(time: UInt32, type: UInt8)] = []
        for packet in media {
            let header = packet.rtp.header
            if types.last?.time != header.timestamp.rawValue {
                types.append((header.timestamp.rawValue, header.payloadType.rawValue))
            }
            #expect(types.last?.type == header.payloadType.rawValue)
        }
        #expect(types.map(\.type) == [102, 102, 102, 102, 116, 116, 116, 116, 102, 102, 102, 102])
        let numbers = peer.mediaPackets.map(\.rtp.header.sequenceNumber.rawValue)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 &+ 1 }, "no gap")
        #expect(zip(types, types.dropFirst()).allSatisfy { Int32(bitPattern: $1.time &- $0.time) > 0 })
    }

    @Test("a packet from before the change goes again with the payload type that it had")
    func retransmission() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(30_000, seed: 1, captured: $0) }
        var lost: [UInt16: UInt8] = [:]
        var count = 0
        peer.link.loses = { packet in
            guard packet.ssrc == peer.viewer.settings.media.rawValue else { return false }
            count += 1
            guard count % 7 == 3 else { return false }
            lost[packet.sequenceNumber] = packet.datagram[1] & 0x7F
            return true
        }
        for seed in 0..<12 as Range<UInt64> {
            rig.publish { captured in
                seed % 3 == 0
                    ? Pictures.idr(20_000, seed: seed, captured: captured, profile: seed % 2 == 0 ? high444 : 0x42)
                    : Pictures.delta(9_000, seed: seed, captured: captured)
            }
            // Several changes are under way before the first request comes.
            rig.run(for: .milliseconds(2))
        }
        rig.run(for: .seconds(2))
        #expect(peer.wholePictures == rig.published.map(\.contents))
        var seen: Set<UInt8> = []
        for packet in peer.viewer.packets where packet.isRetransmission && packet.rtp.payload.count >= 2 {
            let number = packet.rtp.payload.prefix(2).reduce(0) { $0 << 8 | UInt16($1) }
            guard let first = lost[number] else { continue }
            let type = packet.rtp.header.payloadType.rawValue
            #expect(type == first + 1, "\(number) was sent as \(first), and again as \(type)")
            seen.insert(type)
        }
        #expect(seen == [103, 117])
        #expect(peer.viewer.strangeDatagrams == 0)
    }

    @Test("a viewer without 4:4:4 gets nothing of it, and begins at the first IDR of the other")
    func without444() throws {
        let rig = try Rig()
        let full = try rig.join()
        rig.publish { Pictures.idr(20_000, seed: 1, captured: $0, profile: high444) }
        let without444 = try rig.join(decodes444: false)
        let requests = rig.source.keyFrameRequests
        rig.publish { Pictures.delta(2_000, seed: 2, captured: $0) }
        rig.run(for: .seconds(1))
        #expect(without444.mediaPackets.isEmpty)
        #expect(rig.source.keyFrameRequests == requests, "the source knows already")
        rig.publish { Pictures.idr(20_000, seed: 3, captured: $0) }
        rig.publish { Pictures.delta(2_000, seed: 4, captured: $0) }
        rig.run(for: .milliseconds(500))
        #expect(without444.wholePictures == rig.published.suffix(2).map(\.contents))
        #expect(full.wholePictures == rig.published.map(\.contents))
        // And is left standing where it goes back, until it is ended.
        rig.publish { Pictures.idr(20_000, seed: 5, captured: $0, profile: high444) }
        rig.run(for: .milliseconds(500))
        #expect(without444.wholePictures.count == 2)
        #expect(full.wholePictures.count == 5)
    }

    @Test("where the source is gone, the host's own encoder is asked for a picture that all decode")
    func withoutSource() throws {
        let rig = try Rig()
        _ = try rig.join()
        rig.publish { Pictures.idr(20_000, seed: 1, captured: $0, profile: high444) }
        rig.hub.detach(rig.source, reason: "it is gone", now: rig.now)
        rig.run(for: .seconds(1))
        let requests = rig.source.keyFrameRequests
        _ = try rig.join(decodes444: false)
        rig.run(for: .seconds(1))
        #expect(rig.source.keyFrameRequests > requests)
    }
}

@Suite("A session's payload types")
struct StreamFormatsTests {
    @Test("retransmissions have a stream of their own only where the peer takes them for all that may come")
    func retransmission() {
        let plain = (PayloadType(100), PayloadType?.none)
        let full = (PayloadType(102), PayloadType?.some(PayloadType(103)))
        #expect(StreamFormats(yuv420: full).retransmissionPayloadTypes == [PayloadType(102): PayloadType(103)])
        #expect(StreamFormats(yuv420: full, yuv444: plain).retransmissionPayloadTypes.isEmpty)
        #expect(StreamFormats(yuv420: plain, yuv444: full).retransmissionPayloadTypes.isEmpty)
        #expect(StreamFormats(yuv420: full, yuv444: full).retransmissionPayloadTypes.count == 1)
        #expect(StreamFormats(yuv420: plain).payloadType(for: TrackFormat(codec: .h264, chroma: .yuv444)) == nil)
    }
}

@Suite("A server whose track is in 4:4:4")
struct ChromaServerTests {
    private let hub = TrackHub(origin: now())
    private let source = RecordingSource()
    private let server: MediaServer

    init() throws {
        let loopback = TransportAddress(ipv4: 127, 0, 0, 1, port: 0)
        server = try MediaServer(MediaServerConfiguration(bind: loopback, sessionLimit: 16), log: .silent)
        hub.connect(source: source)
    }

    private func viewer(_ offer: String) throws -> SocketViewer {
        try SocketViewer(
            of: server, watching: hub, at: TransportAddress(ipv4: 127, 0, 0, 1, port: server.port), offer: offer)
    }

    @Test("refuses who doesn't decode it with the reason, and takes who does")
    func refusal() throws {
        defer { server.stop() }
        hub.publish(Pictures.idr(profile: high444), epoch: 1, arrival: now())
        do throws(MediaSessionError) {
            _ = try server.open(offer: Offers.chromium, watching: WatchedSource(video: hub)) { _ in }
            Issue.record("taken")
        } catch {
            guard case .unsupported(ChromaPolicy.exclusion) = error else {
                Issue.record("\(error)")
                return
            }
        }
        #expect(hub.viewers == 0 && hub.wantedChroma == .yuv444)
        _ = try server.open(offer: Offers.chromiumWith444, watching: WatchedSource(video: hub)) { _ in }
        #expect(hub.viewers == 1)
    }

    @Test("takes who came before the first picture, and ends that session with the reason when it is 4:4:4")
    func ending() throws {
        defer { server.stop() }
        let without444 = try viewer(Offers.chromium)
        let full = try viewer(Offers.chromiumWith444)
        for viewer in [without444, full] { try viewer.connect() }
        let first = Pictures.idr(20_000, captured: now(), profile: high444)
        hub.publish(first, epoch: 1, arrival: now())
        try eventually("the end of the first, and a picture at the second") {
            for viewer in [without444, full] { viewer.pump() }
            return without444.end != nil && full.shows(first) && without444.viewer.hasEnded
        }
        #expect(without444.end == ChromaPolicy.exclusion)
        #expect(without444.viewer.pictures.isEmpty)
        #expect(full.end == nil)
        #expect(hub.viewers == 1)
    }

    @Test("lets who can't decode it wait where the source can change, and goes back when that viewer has gone")
    func change() throws {
        defer { server.stop() }
        source.changesChroma = true
        hub.abilitiesChanged(of: source, now: now())
        hub.publish(Pictures.idr(20_000, captured: now(), profile: high444), epoch: 1, arrival: now())
        let without444 = try viewer(Offers.chromium)
        #expect(hub.wantedChroma == .yuv420, "before its first picture")
        let full = try viewer(Offers.chromiumWith444)
        for viewer in [without444, full] { try viewer.connect() }
        let next = Pictures.idr(20_000, seed: 2, captured: now())
        hub.publish(next, epoch: 1, arrival: now())
        try eventually("the picture that both decode") {
            for viewer in [without444, full] { viewer.pump() }
            return without444.shows(next) && full.shows(next)
        }
        #expect(without444.viewer.pictures.count == 1)
        let left = now()
        without444.viewer.close()
        without444.pump()
        try eventually("4:4:4 again", holds: { source.returnsTo444 == 1 })
        #expect(now() - left >= ChromaPolicy.timeout)
        #expect(hub.wantedChroma == .yuv444)
    }
    @Test("goes back for a recording or a player that is left when no session watches any more")
    func changeWithoutSessions() throws {
        defer { server.stop() }
        source.changesChroma = true
        hub.abilitiesChanged(of: source, now: now())
        hub.publish(Pictures.idr(20_000, captured: now(), profile: high444), epoch: 1, arrival: now())
        hub.setRecorded(true, now: now())
        let without444 = try viewer(Offers.chromium)
        try without444.connect()
        let next = Pictures.idr(20_000, seed: 2, captured: now())
        hub.publish(next, epoch: 1, arrival: now())
        try eventually("the picture in 4:2:0") {
            without444.pump()
            return without444.shows(next)
        }
        let left = now()
        without444.viewer.close()
        without444.pump()
        try eventually("4:4:4 again", holds: { source.returnsTo444 == 1 })
        #expect(now() - left >= ChromaPolicy.timeout)
        #expect(hub.viewers == 0 && hub.wantedChroma == .yuv444)
    }
}
