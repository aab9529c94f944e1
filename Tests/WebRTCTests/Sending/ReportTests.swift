import MediaSessions
import MediaTypes
import RTP
import STUN
import TestSupport
import Testing

@testable import WebRTC

struct ReportTests {
    @Test("a sender report comes every second, and places the pictures at their capture times")
    func senderReports() throws {
        let rig = try Rig()
        let peer = try rig.join()
        let start = rig.now
        rig.publish({ Pictures.idr(5_000, captured: $0) }, age: .milliseconds(12))
        for index in 0..<51 {
            rig.run(for: .milliseconds(100))
            if index < 20 {
                rig.publish(
                    { Pictures.delta(2_000, seed: UInt64(index), captured: $0) }, age: .milliseconds(Int64(index)))
            }
        }
        let reports = peer.viewer.reports.filter { $0.time > start }
        #expect((5...6).contains(reports.count))
        for (earlier, later) in zip(reports, reports.dropFirst()) {
            let spacing = later.time - earlier.time
            #expect((900...1100).contains(spacing.milliseconds))
        }
        #expect(peer.viewer.canonicalNames.allSatisfy { $0 == "name" } && !peer.viewer.canonicalNames.isEmpty)

        let captured = Dictionary(
            uniqueKeysWithValues: zip(peer.viewer.pictures.map(\.unit.timestamp), rig.published.map(\.captureTime)))
        #expect(captured.count == 21)
        for (report, time) in reports {
            #expect(report.ntpTime == Rig.clock.time(at: time - Rig.delay))
            for (timestamp, capture) in captured {
                let capture = try #require(capture)
                let byReport = report.rtpTimestamp.distance(to: timestamp)
                let byCapture = ClockRate.video.ticks(in: capture - (time - Rig.delay))
                #expect(abs(Int64(byReport) - byCapture) <= 2)
            }
        }
        let last = try #require(reports.last?.report)
        #expect(last.packetCount == UInt32(peer.mediaPackets.count))
        #expect(last.octetCount == UInt32(peer.mediaPackets.reduce(0) { $0 + $1.rtp.payload.count }))
    }

    @Test(
        "a viewer's reference time is answered once, so that the viewer knows the round trip, even if the host is late",
        arguments: [0, 200])
    func referenceTime(waited: Int64) throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.run(for: .milliseconds(2_300))
        #expect(peer.viewer.answers.isEmpty)
        let asked = rig.now
        let clock = NTPClock(unixOffset: .seconds(1_600_000_000))
        peer.viewer.send(.extendedReport(ExtendedReport(sender: SSRC(77), referenceTime: clock.time(at: asked))))
        let unread = peer.viewer.takeOutgoing()
        rig.run(for: Rig.delay + .milliseconds(waited))
        for datagram in unread { peer.deliver(datagram, waited: .milliseconds(waited), now: rig.now) }
        rig.run(for: .seconds(3))
        let answer = try #require(peer.viewer.answers.first)
        #expect(peer.viewer.answers.count == 1)
        #expect(answer.delay.ssrc == SSRC(77))
        let ticks =
            clock.time(at: answer.time).middle32 &- answer.delay.lastReferenceTime
            &- answer.delay.delaySinceLastReferenceTime
        let roundTrip = Interval(nanoseconds: Int64(ticks) * 1_000_000_000 / 65536)
        #expect(abs((roundTrip - Rig.delay * 2).milliseconds) <= 1)
    }

    @Test("a replay does not move the clock of the sender reports")
    func replay() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(5_000, captured: $0) }
        let capture = try #require(rig.published[0].captureTime)
        for index in 0..<10 {
            rig.run(for: .milliseconds(33))
            rig.publish { Pictures.delta(500, seed: UInt64(index), captured: $0) }
        }
        rig.run(for: .milliseconds(300))
        peer.viewer.requestKeyFrame()
        rig.run(for: .seconds(3))
        let origin = try #require(peer.viewer.pictures.first?.unit.timestamp)
        for (report, time) in peer.viewer.reports {
            let ticks = Int64(origin.distance(to: report.rtpTimestamp))
            #expect(abs(ticks - ClockRate.video.ticks(in: time - Rig.delay - capture)) <= 2)
        }
    }

    @Test("each packet asks for no delay, and a picture's last packet says when it was captured")
    func extensions() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(20_000, captured: $0) }
        rig.run(for: .milliseconds(100))
        rig.publish { Pictures.delta(5_000, seed: 1, captured: $0) }
        rig.run(for: .milliseconds(15))
        let captures = rig.published.compactMap(\.captureTime).map { Rig.clock.time(at: $0).rawValue }
        var seen: [UInt64] = []
        let packets = peer.mediaPackets.filter { !$0.rtp.payload.isEmpty }
        #expect(packets.count > 20)
        for packet in packets {
            #expect(packet.rtp.extensionData(5).map { Array($0) } == [0, 0, 0])
            #expect(packet.rtp.extensionData(9).map { Array($0) } == Array("0".utf8))
            let capture = packet.rtp.extensionData(12)
            #expect((capture != nil) == packet.rtp.header.marker)
            if let capture { seen.append(capture.reduce(0) { $0 << 8 | UInt64($1) }) }
            #expect(packet.byteCount <= RTPPacket.maxDatagramByteCount)
        }
        #expect(seen == captures)
    }

    @Test("the round trip is estimated from the handshake, then measured from a reception report")
    func roundTrip() throws {
        let rig = try Rig()
        let peer = try rig.join()
        let estimated = try #require(peer.session.statistics.roundTripTime)
        #expect((9...11).contains(estimated.milliseconds))
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.run(for: .milliseconds(1300))
        peer.viewer.report(now: rig.now)
        rig.run(for: .milliseconds(20))
        let measured = try #require(peer.session.statistics.roundTripTime)
        #expect((9...11).contains(measured.milliseconds))
    }

    @Test("a ClientHello that had come twice before it was read isn't taken for an answer on a path of no length")
    func doubledHello() throws {
        let rig = try Rig()
        let peer = try rig.addPeer()
        var hello: [[UInt8]] = []
        peer.losesToHost = { datagram in
            guard DatagramKind(of: datagram) == .dtls else { return false }
            hello.append(datagram)
            return true
        }
        peer.viewer.check()
        rig.run(for: .milliseconds(15))
        try #require(hello.count == 1)
        peer.losesToHost = { _ in false }
        peer.link.now = rig.now
        for _ in 0..<2 { peer.deliver(hello[0], waited: .milliseconds(60), now: rig.now) }
        rig.run(for: .milliseconds(50))
        let estimated = try #require(peer.session.statistics.roundTripTime)
        #expect((9...11).contains(estimated.milliseconds))
    }

    @Test("the time until pictures are sent counts from their arrival, but not for those that a session begins with")
    func sendingTimes() throws {
        let rig = try Rig()
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.run(for: .seconds(3))
        let peer = try rig.join()
        rig.run(for: .milliseconds(50))
        #expect(peer.wholePictures.count == 1 && rig.feed.record.times.count == 0)
        for index in 0..<10 {
            rig.publish { Pictures.delta(500, seed: UInt64(index), captured: $0) }
            rig.run(for: .milliseconds(30))
        }
        #expect(peer.wholePictures.count == 11 && rig.feed.record.times.count == 10)
        #expect(rig.feed.record.times.sum < .milliseconds(20))
        // As many packets as take a while at the path's pace.
        rig.publish { Pictures.delta(400_000, seed: 99, captured: $0) }
        rig.run(for: .seconds(2))
        #expect(peer.wholePictures.count == 12 && rig.feed.record.times.count == 11)
        #expect(rig.feed.record.times.sum > .milliseconds(20))
    }

    @Test("what the peer has missed is told, and never becomes less")
    func lostPackets() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.run(for: .milliseconds(50))
        #expect(peer.session.statistics.lostPackets == nil && peer.session.statistics.estimate == nil)
        let ssrc = try #require(peer.mediaPackets.first?.rtp.header.ssrc)
        for (lost, told) in [(-2, 0), (7, 7), (6, 7)] as [(Int32, Int)] {
            peer.viewer.send(
                .receiverReport(
                    ReceiverReport(
                        ssrc: SSRC(1),
                        receptionReports: [
                            ReceptionReport(ssrc: ssrc, cumulativeLost: lost, highestSequenceNumber: 9)
                        ])))
            rig.run(for: .milliseconds(50))
            #expect(peer.session.statistics.lostPackets == told)
        }
    }
}
