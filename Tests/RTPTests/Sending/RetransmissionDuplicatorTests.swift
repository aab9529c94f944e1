import MediaTypes
import RTP
import Testing

struct RetransmissionDuplicatorTests {
    private func time(_ milliseconds: Int64) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

    @Test("on a lossy path each retransmission has a copy 5 ms later")
    func lossy() {
        var duplicator = RetransmissionDuplicator()
        duplicator.reported(fractionLost: 13)
        duplicator.retransmitted(SequenceNumber(7), at: time(100))
        duplicator.retransmitted(SequenceNumber(9), at: time(102))
        #expect(duplicator.deadline == time(105))
        #expect(duplicator.next(at: time(104)) == nil)
        #expect(duplicator.next(at: time(105)) == SequenceNumber(7))
        #expect(duplicator.next(at: time(105)) == nil)
        #expect(duplicator.next(at: time(300)) == SequenceNumber(9))
        #expect(duplicator.deadline == nil)
        #expect(duplicator.count == 2)
    }

    @Test("without reported loss there are no copies", arguments: [nil, 0, 4] as [UInt8?])
    func clean(fractionLost: UInt8?) {
        var duplicator = RetransmissionDuplicator()
        if let fractionLost { duplicator.reported(fractionLost: fractionLost) }
        duplicator.retransmitted(SequenceNumber(7), at: time(100))
        #expect(duplicator.deadline == nil)
        #expect(duplicator.next(at: time(200)) == nil)
    }

    @Test("a loss is forgotten after many reports without one, not after the first")
    func forgetting() {
        var duplicator = RetransmissionDuplicator()
        duplicator.reported(fractionLost: 255)
        for _ in 0..<5 { duplicator.reported(fractionLost: 0) }
        duplicator.retransmitted(SequenceNumber(7), at: time(100))
        #expect(duplicator.next(at: time(200)) == SequenceNumber(7))
        for _ in 0..<60 { duplicator.reported(fractionLost: 0) }
        duplicator.retransmitted(SequenceNumber(8), at: time(300))
        #expect(duplicator.next(at: time(400)) == nil)
    }
}
