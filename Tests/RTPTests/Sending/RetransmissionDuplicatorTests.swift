import MediaTypes
import RTP
import Testing

struct SecondCopiesTests {
    private func time(_ milliseconds: Int64) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

    @Test("on a lossy path each retransmission has a copy 5 ms later")
    func lossy() {
        var copies = RetransmissionDuplicator()
        copies.reported(fractionLost: 13)
        copies.retransmitted(SequenceNumber(7), at: time(100))
        copies.retransmitted(SequenceNumber(9), at: time(102))
        #expect(copies.deadline == time(105))
        #expect(copies.next(at: time(104)) == nil)
        #expect(copies.next(at: time(105)) == SequenceNumber(7))
        #expect(copies.next(at: time(105)) == nil)
        #expect(copies.next(at: time(300)) == SequenceNumber(9))
        #expect(copies.deadline == nil)
        #expect(copies.count == 2)
    }

    @Test("without reported loss there are no copies", arguments: [nil, 0, 4] as [UInt8?])
    func clean(fractionLost: UInt8?) {
        var copies = RetransmissionDuplicator()
        if let fractionLost { copies.reported(fractionLost: fractionLost) }
        copies.retransmitted(SequenceNumber(7), at: time(100))
        #expect(copies.deadline == nil)
        #expect(copies.next(at: time(200)) == nil)
    }

    @Test("a loss is forgotten after many reports without one, not after the first")
    func forgetting() {
        var copies = RetransmissionDuplicator()
        copies.reported(fractionLost: 255)
        for _ in 0..<5 { copies.reported(fractionLost: 0) }
        copies.retransmitted(SequenceNumber(7), at: time(100))
        #expect(copies.next(at: time(200)) == SequenceNumber(7))
        for _ in 0..<60 { copies.reported(fractionLost: 0) }
        copies.retransmitted(SequenceNumber(8), at: time(300))
        #expect(copies.next(at: time(400)) == nil)
    }
}
