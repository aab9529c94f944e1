import MediaSessions
import MediaTypes
import RTP
import STUN
import TestSupport
import Testing
import Threading
import TrackHub

@testable import WebRTC

@Suite("A session with sound")
struct SoundTests {
    /// The stream of the rig's second track.
    private static let sound = SSRC(0x1122_3444)

    /// The packets of sound that came.
    private func packets(at peer: RigPeer, of stream: SSRC = Self.sound) -> [RTPPacket] {
        peer.viewer.packets.map(\.rtp).filter { $0.header.ssrc == stream }
    }

    private func reports(
        at peer: RigPeer, of stream: SSRC = Self.sound
    ) -> [(report: SenderReport, time: MonotonicTime)] {
        peer.viewer.reports.filter { $0.report.ssrc == stream }
    }

    private func contents(of frames: some Sequence<CodedFrame>) -> [[UInt8]] { frames.flatMap(\.contents) }

    private func contents(of packets: [RTPPacket]) -> [[UInt8]] { packets.map { Array($0.payload) } }

    @Test("pictures say how long they may wait for sound: while there is some, or as long as the viewer has asked for")
    func playoutDelay() throws {
        let rig = try Rig(hasSound: true)
        let peer = try rig.join()
        var seed: UInt64 = 0
        /// The playout delay of another picture, as its bytes.
        func told() throws -> [UInt8] {
            seed += 1
            rig.publish { Pictures.delta(2_000, seed: seed, captured: $0) }
            rig.run(for: .milliseconds(20))
            let packet = try #require(peer.viewer.packets.last { $0.rtp.header.ssrc != Self.sound })
            return Array(try #require(packet.rtp.extensionData(5)))
        }
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.run(for: .milliseconds(20))
        let silent = try told()
        rig.play(5)
        let sounding = try told()
        rig.run(for: .seconds(3))
        let silentAgain = try told()
        #expect([silent, sounding, silentAgain] == [[0, 0, 0], [0, 0, 20], [0, 0, 0]])
        peer.session.watched?.requestedPlayoutDelay = .milliseconds(64)
        let held = try told()
        peer.session.watched?.requestedPlayoutDelay = .zero
        rig.play(5)
        let unheld = try told()
        #expect([held, unheld] == [[0, 0x60, 6], [0, 0, 0]])
    }

    @Test("sends its packets beside the pictures, at steps of exactly 10 ms, and counts both together")
    func bothKinds() throws {
        let rig = try Rig(hasSound: true)
        let peer = try rig.join(hasTransportNumbers: true)
        rig.publish { Pictures.idr(5_000, captured: $0) }
        for seed in UInt64(1)..<15 {
            rig.play(10)
            rig.publish { Pictures.delta(2_000, seed: seed, captured: $0) }
        }
        rig.run(for: .milliseconds(100))
        let packets = packets(at: peer)
        #expect(contents(of: packets) == contents(of: rig.tracks[1].published))
        let steps = zip(packets, packets.dropFirst()).map { $0.header.timestamp.distance(to: $1.header.timestamp) }
        #expect(Set(steps) == [480])
        #expect(packets.filter(\.header.marker).map(\.header.sequenceNumber) == [packets[0].header.sequenceNumber])
        #expect(Set(packets.map(\.header.payloadType)) == [PayloadType(111)])
        let mids = packets.map { $0.extensionData(9).map { Array($0) } }
        #expect(Set(mids) == [Array("1".utf8)])
        #expect(packets.allSatisfy { $0.extensionData(5) == nil }, "no packet of sound asks for a playout delay")
        #expect(peer.wholePictures.count == 15)

        let numbers = peer.viewer.packets.compactMap { packet in
            packet.rtp.extensionData(3).map { $0.reduce(0) { $0 << 8 | UInt16($1) } }
        }
        #expect(numbers.sorted() == (0..<peer.viewer.packets.count).map { UInt16($0) })
        let statistics = peer.session.statistics
        #expect(statistics.framesSent == 15 && statistics.sentSoundPackets == 140)
        #expect(statistics.sentPackets == peer.mediaPackets.count)
        #expect(rig.tracks.map(\.feed.record.times.count) == [15, 0])
    }

    @Test("has transport-wide numbers until feedback comes; then beside pictures, but not beside a still screen")
    func transportNumbers() throws {
        let rig = try Rig(hasSound: true)
        let peer = try rig.join(hasTransportNumbers: true)
        func numbers() -> [UInt16] {
            peer.viewer.packets.compactMap { packet in
                packet.rtp.extensionData(3).map { $0.reduce(0) { $0 << 8 | UInt16($1) } }
            }
        }
        func numberedSound() -> Int { packets(at: peer).count { $0.extensionData(3) != nil } }
        rig.play(10)
        #expect(packets(at: peer).count == 10 && numberedSound() == 10)
        // They came 10 ms apart, as they were sent.
        let arrivals = (0..<10).map { TransportFeedback.Arrival.received(delta: $0 == 0 ? 0 : 40) }
        peer.viewer.send(
            .transportFeedback(
                TransportFeedback(
                    sender: SSRC(1), media: Self.sound, base: 0, referenceTime: 0, feedbackCount: 0,
                    arrivals: arrivals)))
        rig.run(for: .milliseconds(300))
        rig.play(10)
        #expect(packets(at: peer).count == 20 && numberedSound() == 10)
        for seed in UInt64(0)..<2 {
            let before = numberedSound()
            rig.publish {
                seed == 0 ? Pictures.idr(5_000, captured: $0) : Pictures.delta(2_000, seed: seed, captured: $0)
            }
            rig.play(100)
            // For a quarter of a second.
            #expect((20...30).contains(numberedSound() - before))
        }
        #expect(numbers().sorted() == (0..<numbers().count).map { UInt16($0) })
        #expect(packets(at: peer).count == 220)
    }

    @Test("its sender reports place it at its capture times, on the clock of the pictures")
    func senderReports() throws {
        let rig = try Rig(hasSound: true)
        let peer = try rig.join()
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.play(250)
        let reports = reports(at: peer)
        #expect(reports.count == 3)
        for (report, time) in reports {
            #expect(report.ntpTime == Rig.clock.time(at: time - Rig.delay))
            for (packet, published) in zip(packets(at: peer), rig.tracks[1].published) {
                let capture = try #require(published.captureTime)
                let byReport = Int64(report.rtpTimestamp.distance(to: packet.header.timestamp))
                #expect(abs(byReport - ClockRate.audio.ticks(in: capture - (time - Rig.delay))) <= 2)
            }
        }
        #expect(Set(peer.viewer.canonicalNames) == ["name"])
        let stamped = packets(at: peer).filter { $0.extensionData(12) != nil }
        #expect(stamped.count == 3)
    }

    @Test("wakes nobody while it is silent, and begins again with a marker and a report")
    func silence() throws {
        let rig = try Rig(trackCount: 0, hasSound: true)
        let stream = SSRC(0x1122_3344)
        let peer = try rig.join()
        let watched = try #require(peer.session.watched)
        func deadline() -> MonotonicTime { watched.advance(now: rig.now) { _ in true } }
        #expect(deadline() == .distantFuture)
        rig.play(30, on: 0)
        #expect(deadline() == .distantFuture)
        #expect(reports(at: peer, of: stream).count == 1)

        rig.run(for: .seconds(5))
        #expect(deadline() == .distantFuture)
        #expect(reports(at: peer, of: stream).count == 1)
        rig.play(3, on: 0)
        #expect(packets(at: peer, of: stream).map(\.header.marker) == (0..<33).map { $0 == 0 || $0 == 30 })
        let times = peer.viewer.packets.map(\.time)
        #expect(reports(at: peer, of: stream).map(\.time) == [times[0], times[30]])
        #expect(rig.source.keyFrameRequests == 0 && rig.source.pictureRequests == 0)
    }

    @Test("leaves out what has waited longer than 200 ms for room in the socket")
    func oldSound() throws {
        let rig = try Rig(hasSound: true)
        let peer = try rig.join()
        rig.play(3)
        peer.link.hasRoom = false
        rig.play(30)
        #expect(peer.session.isStalled && packets(at: peer).count == 4)
        peer.link.hasRoom = true
        peer.session.resume(now: rig.now)
        rig.play(2)
        let published = rig.tracks[1].published
        #expect(contents(of: packets(at: peer)) == contents(of: published[...3]) + contents(of: published[32...]))

        // Nothing newer comes.
        peer.link.hasRoom = false
        rig.play(2)
        rig.run(for: .milliseconds(300))
        peer.link.hasRoom = true
        peer.session.resume(now: rig.now)
        rig.run(for: .milliseconds(20))
        #expect(packets(at: peer).count == 8 && !peer.session.isStalled)
        #expect(rig.tracks[1].feed.record.drops.lateSoundFrames == rig.tracks[1].published.count - 8)
    }

    @Test("a viewer who joins hears nothing from before, and nothing that the sharer has paused")
    func joining() throws {
        let rig = try Rig(hasSound: true)
        rig.play(50)
        rig.run(for: .seconds(1))
        let peer = try rig.join()
        rig.run(for: .milliseconds(100))
        #expect(packets(at: peer).isEmpty)
        rig.play(3)
        #expect(contents(of: packets(at: peer)) == contents(of: rig.tracks[1].published[50...]))
        rig.tracks[1].hub.setPaused(true)
        rig.play(3)
        #expect(packets(at: peer).count == 3)
    }

    @Test("goes at once while a large picture waits for its pace")
    func beforePictures() throws {
        let rig = try Rig(hasSound: true)
        let peer = try rig.join()
        rig.publish { Pictures.idr(3_000_000, captured: $0) }
        let times = rig.play(20)
        #expect(peer.session.statistics.framesSent == 0)
        #expect(peer.link.media.filter { $0.ssrc == Self.sound.rawValue }.map(\.time) == times)
    }

    @Test("sends a lost packet again with the same bytes when it is asked for")
    func repeats() throws {
        let rig = try Rig(hasSound: true)
        let peer = try rig.join()
        rig.play(5)
        let lost = packets(at: peer)[2].header.sequenceNumber
        peer.viewer.send(
            .genericNack(GenericNack(sender: SSRC(1), media: Self.sound, sequenceNumbers: [lost])))
        rig.run(for: .milliseconds(20))
        let sent = peer.link.media.filter { $0.ssrc == Self.sound.rawValue && $0.sequenceNumber == lost.rawValue }
        #expect(sent.count == 2 && Set(sent.map(\.datagram)).count == 1)
        #expect(peer.session.statistics.sentSoundPackets == 5)
    }

    @Test("leaves what its path carries beside the sound to the source of the pictures, and tells the sound's nothing")
    func rates() throws {
        let rig = try Rig(hasSound: true)
        let peer = try rig.join()
        rig.publish { Pictures.idr(5_000, captured: $0) }
        // The viewer's limit counts once that much is sent.
        for seed in UInt64(1)..<26 {
            rig.publish { Pictures.delta(10_000, seed: seed, captured: $0) }
            rig.run(for: .milliseconds(40))
        }
        peer.viewer.report(now: rig.now)
        peer.viewer.send(
            .estimatedMaximumBitRate(
                ReceiverEstimatedMaximumBitRate(
                    sender: SSRC(1), bitRate: BitRate(bitsPerSecond: 1_000_000),
                    sources: [peer.viewer.settings.media])))
        rig.run(for: .milliseconds(20))
        let before = peer.session.targetBitRate.bitsPerSecond
        #expect((800_000...1_000_000).contains(before))
        rig.play(100)
        let left = peer.session.targetBitRate.bitsPerSecond
        #expect((128_000...250_000).contains(before - left))
        let watched = try #require(peer.session.watched)
        rig.tracks[1].feed.adaptRates(to: [watched], now: rig.now)
        #expect(rig.tracks[1].source.rates.isEmpty)
        rig.run(for: .milliseconds(2_500))
        #expect(peer.session.targetBitRate.bitsPerSecond == before)
    }

    @Test("is negotiated if the source has a track of it, and refused if not")
    func negotiation() throws {
        let bind = TransportAddress(ipv4: 127, 0, 0, 1, port: 0)
        let server = try MediaServer(MediaServerConfiguration(bind: bind), log: .silent)
        defer { server.stop() }
        let (video, audio) = (TrackHub(origin: .zero), TrackHub(origin: .zero))
        let source = WatchedSource(video: video, audio: audio)
        let both = try server.open(offer: Offers.chromiumWithAudioAndData, watching: source) { _ in }
        #expect(both.answer.contains("m=audio \(server.port) UDP/TLS/RTP/SAVPF 111 63\r\n"))
        #expect(both.answer.contains("a=msid:screen screen-sound\r\n"))
        #expect(video.viewers == 1 && audio.viewers == 1)
        let silent = try server.open(
            offer: Offers.chromiumWithAudioAndData, watching: WatchedSource(video: video)
        ) { _ in }
        #expect(silent.answer.contains("m=audio 0 "))
        #expect(video.viewers == 2 && audio.viewers == 1)
        let offered = try server.offer(watching: source) { _ in }
        #expect(offered.offer.contains("m=audio \(server.port) "))
        try server.accept(answer: Answers.chromium, for: offered.id)
        #expect(video.viewers == 3 && audio.viewers == 1)
    }
}
