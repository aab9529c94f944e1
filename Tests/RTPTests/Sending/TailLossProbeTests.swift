import MediaTypes
import RTP
import Testing

struct TailProbeTests {
    private func time(_ milliseconds: Int64) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

    private func probe(rtx: Bool = true, packets: Int = 2, roundTrip: Int64? = nil) -> TailLossProbe {
        var probe = TailLossProbe(hasRetransmission: rtx)
        probe.pictureSent(
            lastSequenceNumber: SequenceNumber(1), packetCount: packets,
            roundTripTime: roundTrip.map { .milliseconds($0) }, at: time(100))
        return probe
    }

    @Test("a picture that nothing follows is probed for after 20 ms, once more after 40, and then no more")
    func twice() {
        var probe = probe()
        #expect(probe.deadline == time(120))
        #expect(probe.poll(at: time(119)) == nil)
        #expect(probe.poll(at: time(120)) == .retransmitPicture)
        #expect(probe.deadline == time(160))
        #expect(probe.poll(at: time(159)) == nil)
        #expect(probe.poll(at: time(165)) == .padding)
        #expect(probe.deadline == nil)
        #expect(probe.poll(at: time(10_000)) == nil)
    }

    @Test("on a long path the wait is half a round trip")
    func longPath() {
        #expect(probe(roundTrip: 30).deadline == time(120))
        #expect(probe(roundTrip: 200).deadline == time(200))
    }

    @Test("a larger picture is probed for by padding, and a peer without RTX by its last packet")
    func actions() {
        var small = probe(packets: 3)
        var large = probe(packets: 4)
        var plain = probe(rtx: false, packets: 40)
        #expect(small.poll(at: time(120)) == .retransmitPicture)
        #expect(large.poll(at: time(120)) == .padding)
        #expect(plain.poll(at: time(120)) == .retransmitLastPacket)
    }

    @Test("the picture's packets are named by their sequence numbers, over a wrap too")
    func sequenceNumbers() {
        #expect(probe(packets: 3).pictureSequenceNumbers.map(\.rawValue) == [65535, 0, 1])
    }

    @Test("a report that shows the last packet, or a later one, ends probing; an older one doesn't")
    func acknowledged() {
        var probe = probe()
        probe.receiverReported(highest: SequenceNumber(65535))
        #expect(probe.deadline != nil)
        probe.receiverReported(highest: SequenceNumber(1))
        #expect(probe.deadline == nil)
        #expect(probe.poll(at: time(500)) == nil)
        probe.pictureSent(
            lastSequenceNumber: SequenceNumber(3), packetCount: 1, roundTripTime: nil, at: time(600))
        #expect(probe.deadline == time(620))
        probe.receiverReported(highest: SequenceNumber(4))
        #expect(probe.deadline == nil)
    }

    @Test("in steady motion the next picture is the probe: 30 pictures a second send nothing twice")
    func motion() {
        var probe = probe()
        for index in 1...30 {
            let now = 100 + Int64(index) * 33
            #expect(probe.poll(at: time(now)) == nil || index == 1)
            probe.pictureSent(
                lastSequenceNumber: SequenceNumber(UInt16(index)), packetCount: 1, roundTripTime: nil, at: time(now))
        }
        // The last one is followed by nothing: one and a half distances later that shows.
        #expect(probe.deadline == time(100 + 990) + .microseconds(49_500))
        #expect(probe.poll(at: time(1140)) == .retransmitPicture)
    }

    @Test("Pictures that come 17 and 50 ms apart in turn wait for each other")
    func unevenMotion() {
        var probe = probe()
        var now: Int64 = 0
        for number in 0..<40 {
            now += number.isMultiple(of: 2) ? 17 : 50
            #expect(number < 4 || probe.poll(at: time(now)) == nil)
            probe.pictureSent(
                lastSequenceNumber: SequenceNumber(200 + UInt16(number)), packetCount: 2, roundTripTime: nil,
                at: time(now))
        }
        #expect(probe.deadline == time(now + 75))
        #expect(probe.poll(at: time(now + 75)) == .retransmitPicture)
    }

    @Test("in motion padding follows each picture after a burst of losses, and then the usual probes")
    func bursts() {
        var probe = TailLossProbe(hasRetransmission: true)
        for index in 0...4 {
            probe.pictureSent(
                lastSequenceNumber: SequenceNumber(UInt16(index * 50)), packetCount: 2, roundTripTime: nil,
                at: time(Int64(index) * 30))
            // Nor is there any for 60 ms after the request that counts.
            if index < 4 { #expect(probe.poll(at: time(Int64(index) * 30 + 15)) == nil) }
            // These are three that follow another, of eight, and then five of thirteen.
            if index < 2 {
                let numbers: [UInt16] = index == 0 ? [1, 2, 3, 4, 6, 8, 10, 12] : [20, 22, 24, 25, 26]
                probe.requested(numbers.map { SequenceNumber($0) }, at: time(Int64(index) * 30))
            }
            // And these are nine of eighteen.
            if index == 2 {
                probe.requested([30, 31, 32, 33, 34].map { SequenceNumber($0) }, at: time(60))
            }
        }
        for packet in 1...10 as ClosedRange<Int64> {
            let due = time(120) + .milliseconds(30) / 11 * packet
            #expect(probe.deadline == due)
            #expect(probe.poll(at: due - .microseconds(1)) == nil)
            #expect(probe.poll(at: due) == .padding)
        }
        // No picture has followed.
        #expect(probe.deadline == time(120 + 45))
        #expect(probe.poll(at: time(120 + 45)) == .retransmitPicture)
        #expect(probe.poll(at: time(120 + 45 + 90)) == .padding)
        #expect(probe.deadline == nil)
        // A single picture is no motion.
        probe.pictureSent(
            lastSequenceNumber: SequenceNumber(159), packetCount: 2, roundTripTime: nil, at: time(900))
        #expect(probe.deadline == time(920))
        // The picture of a video may follow one of the text beside it at once.
        probe.pictureSent(
            lastSequenceNumber: SequenceNumber(160), packetCount: 2, roundTripTime: nil, at: time(903))
        #expect(probe.deadline == time(905))
        // A path that is full loses what its queue has no room for, and a narrow one has room for little.
        for (index, room) in [0, 70].enumerated() {
            let sent = time(933 + Int64(index) * 30)
            probe.pictureSent(
                lastSequenceNumber: SequenceNumber(UInt16(161 + index)), packetCount: 2, roundTripTime: nil,
                paddingRoom: room, at: sent)
            #expect(probe.deadline == sent + .milliseconds(room == 0 ? 45 : 10))
        }
        // A picture of many packets needs none.
        probe.pictureSent(lastSequenceNumber: SequenceNumber(190), packetCount: 20, roundTripTime: nil, at: time(993))
        #expect(probe.deadline == time(993 + 45))
        // A burst is forgotten.
        for due in [11_000, 11_030] as [Int64] {
            probe.pictureSent(
                lastSequenceNumber: SequenceNumber(200), packetCount: 2, roundTripTime: nil, at: time(due))
        }
        #expect(probe.deadline == time(11_030 + 45))
    }

    @Test("padding waits after the 10,000th packet, until the picture that browsers count from should be repaired")
    func recounted() {
        var probe = TailLossProbe(hasRetransmission: true)
        func send(_ number: UInt16, isKeyFrame: Bool = false, at milliseconds: Int64) {
            probe.pictureSent(
                lastSequenceNumber: SequenceNumber(number), packetCount: 100, isKeyFrame: isKeyFrame,
                roundTripTime: nil, at: time(milliseconds))
        }
        send(100, isKeyFrame: true, at: 0)
        #expect(probe.poll(at: time(20)) == .padding)
        // Padding would be what they count from.
        send(10_100, at: 1000)
        #expect(probe.poll(at: time(1020)) == nil && probe.deadline == nil)
        send(10_101, at: 2000)
        #expect(probe.poll(at: time(2020)) == nil)
        #expect(probe.deadline == time(2300))
        #expect(probe.poll(at: time(2300)) == .padding)
        send(10_301, at: 2400)
        #expect(probe.poll(at: time(2420)) == .padding)
    }

    @Test("none follows a key frame, nor comes 10,000 packets after it, since browsers count from there")
    func countedPackets() {
        var probe = TailLossProbe(hasRetransmission: true)
        let first = SequenceNumber(60_000)
        var now: Int64 = 100
        probe.requested((0..<5).map { first.advanced(by: $0) }, at: time(0))
        func hasPadding(after count: Int, isKeyFrame: Bool = false) -> Bool {
            now += 30
            probe.pictureSent(
                lastSequenceNumber: first.advanced(by: count), packetCount: 2, isKeyFrame: isKeyFrame,
                roundTripTime: nil, at: time(now))
            return probe.deadline.map { $0 < time(now + 10) } ?? false
        }
        #expect(!hasPadding(after: 0, isKeyFrame: true))
        #expect(!hasPadding(after: 39))
        #expect([40, 5_000, 9_988].allSatisfy { hasPadding(after: $0) })
        #expect(![9_989, 10_000].contains { hasPadding(after: $0) })
        // It counts from this one.
        #expect(!hasPadding(after: 10_003))
        #expect(!hasPadding(after: 10_042))
        #expect(hasPadding(after: 10_043))
        #expect(!hasPadding(after: 15_000, isKeyFrame: true))
        #expect(hasPadding(after: 20_100))
    }

    @Test("nothing is probed for before the first picture")
    func nothingSent() {
        var probe = TailLossProbe(hasRetransmission: true)
        #expect(probe.deadline == nil)
        #expect(probe.poll(at: time(1_000_000)) == nil)
    }
}
