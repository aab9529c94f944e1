import MediaSessions
import MediaTypes
import RTP
import STUN
import TestSupport
import Testing

@testable import WebRTC

@Suite("The silence that servers are sent")
struct FilledSilenceTests {
    private static let sound = SSRC(0x1122_3444)

    private func join(_ rig: Rig, isServer: Bool) throws -> RigPeer {
        let address = TransportAddress(ipv4: 192, 0, 2, 0, port: 50_000)
        let peer = try rig.addPeer(
            isDTLSClient: true, candidates: [RemoteCandidate(address: address, priority: 100)],
            iceRole: isServer ? .controlling(tieBreaker: .max) : .lite)
        if isServer {
            peer.checksOn = false
            peer.viewer.isControlled = true
        } else {
            peer.viewer.check()
        }
        rig.run(for: .milliseconds(300))
        try #require(peer.session.isConnected && peer.viewer.isConnected)
        return peer
    }

    private func packets(at peer: RigPeer) -> [RTPPacket] {
        peer.viewer.packets.map(\.rtp).filter { $0.header.ssrc == Self.sound }
    }

    private func steps(_ packets: [RTPPacket]) -> Set<Int> {
        Set(zip(packets, packets.dropFirst()).map { $0.header.timestamp.distance(to: $1.header.timestamp) })
    }

    @Test(
        "a server gets silence while the source is silent, from the beginning, at steps of 60 ms; a viewer gets none"
    )
    func silence() throws {
        for isServer in [true, false] {
            let rig = try Rig(hasSound: true)
            let peer = try join(rig, isServer: isServer)
            rig.run(for: .seconds(6))
            let packets = packets(at: peer)
            guard isServer else {
                #expect(packets.isEmpty)
                continue
            }
            #expect((100...106).contains(packets.count))
            #expect(steps(packets) == [2880])
            #expect(Set(packets.map { Array($0.payload) }) == [[0xFB, 3, 0xFF, 0xFE, 0xFF, 0xFE, 0xFF, 0xFE]])
            #expect(peer.session.statistics.sentSoundPackets == packets.count)
            // The reports put the silence at its place, though the track has had no sound yet: a packet's is 260 ms old
            // when it goes out, and the first report goes with the first packet.
            let report = try #require(peer.viewer.reports.first { $0.report.ssrc == Self.sound }?.report)
            #expect(packets[0].header.timestamp.distance(to: report.rtpTimestamp) == 12_480)
        }
    }

    @Test("sound that comes takes the silence's place without an overlap, and begins with a marker; a gap is filled")
    func sound() throws {
        let rig = try Rig(hasSound: true)
        let peer = try join(rig, isServer: true)
        rig.run(for: .seconds(1))
        let before = packets(at: peer).count
        rig.play(100)
        let played = packets(at: peer).dropFirst(before)
        #expect(played.filter { $0.payload.count == 160 }.count == 100, "none is left out, and none filled in between")
        #expect(played.count == 100)
        #expect(played.first?.header.marker == true && played.dropFirst().allSatisfy { !$0.header.marker })
        let last = try #require(played.last)
        rig.run(for: .milliseconds(250))
        #expect(packets(at: peer).count == before + 100)
        rig.run(for: .seconds(2))
        // How long these packets last isn't said, so the silence follows as soon as it may.
        let filled = Array(packets(at: peer).dropFirst(before + 100))
        #expect(filled.count > 25 && steps([last] + filled.prefix(1)) == [120] && steps(filled) == [2880])
        let all = packets(at: peer)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.header.timestamp.distance(to: $1.header.timestamp) > 0 })
    }

    @Test("sound from before the end of the silence isn't sent behind it, and what comes after that is")
    func late() {
        let start = MonotonicTime(nanoseconds: 1_000_000_000_000)
        var silence = FilledSilence(isNow: true, at: start)
        let here = MediaTime(ticks: 480_000)
        let first = silence.next(at: start, place: here)
        #expect(first == MediaTime(ticks: 480_000 - 12_480))
        let end: Int64 = 480_000 - 12_480 + 2880
        let twenty = Interval.milliseconds(20)
        let (isLateTaken, isTaken) = (
            silence.take(MediaTime(ticks: end - 1), lasting: twenty, at: start),
            silence.take(MediaTime(ticks: end), lasting: twenty, at: start)
        )
        #expect(!isLateTaken && isTaken)
        // A packet was late by a tick, so others may be late by that and 100 ms more.
        let early = silence.next(at: start + .milliseconds(359), place: here)
        let next = silence.next(at: start + .milliseconds(361), place: here)
        #expect(early == nil && next == MediaTime(ticks: end + 960))
        // After a loop was held up for an hour, one packet goes out, where the track is by then.
        let later = start + .seconds(3600)
        let held = ClockRate.audio.ticks(in: later - silence.due)
        let afterwards = silence.next(at: later, place: here)
        #expect(afterwards == MediaTime(ticks: end + 960 + 2880 + held))
        #expect(silence.due == later + .milliseconds(60))
    }

    @Test(
        "of a source that delivers in bursts, silence takes the place of one burst, and of no other",
        arguments: [400, 900])
    func bursts(length: Int64) {
        let begin = MonotonicTime(nanoseconds: 1_000_000_000_000)
        let packet = Interval.milliseconds(20)
        var silence = FilledSilence(isNow: true, at: begin)
        var taken: [Bool] = []
        for millisecond in 0..<20_000 as Range<Int64> {
            let now = begin + .milliseconds(millisecond)
            let place = MediaTime(ticks: 4_800_000 + ClockRate.audio.ticks(in: now - begin))
            while silence.next(at: now, place: place) != nil {}
            guard millisecond % length == 0 else { continue }
            for time in stride(from: length, to: 0, by: -20) {
                let start = place + -ClockRate.audio.ticks(in: .milliseconds(time))
                taken.append(silence.take(start, lasting: packet, at: now))
            }
        }
        let lost = taken.lastIndex(of: false) ?? -1
        #expect(lost < 2 * Int(length) / 20, "the last packet that is lost: \(lost) of \(taken.count)")
        // Then there is none, and silence follows at last.
        let end = begin + .seconds(20)
        var filled: MonotonicTime?
        for millisecond in 0..<4_000 as Range<Int64> where filled == nil {
            let now = end + .milliseconds(millisecond)
            if silence.next(at: now, place: MediaTime(ticks: 0)) != nil { filled = now }
        }
        #expect(filled.map { $0 - end <= .milliseconds(2200) } == true)
    }

    @Test("without a source, it begins behind the first packet of sound")
    func withoutSource() {
        let start = MonotonicTime(nanoseconds: 1_000_000_000_000)
        var silence = FilledSilence(isNow: false, at: start)
        #expect(silence.due == .distantFuture)
        let isTaken = silence.take(MediaTime(ticks: 100), lasting: .milliseconds(20), at: start)
        #expect(isTaken && silence.due == start + .milliseconds(260))
    }
}
