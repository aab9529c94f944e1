import MediaTypes
import Testing

@testable import RTP

@Suite("Transport-wide reports")
struct TransportArrivalsTests {
    private let start = MonotonicTime(nanoseconds: 7_000_000_000)

    private func at(_ milliseconds: Int64) -> MonotonicTime { start + .milliseconds(milliseconds) }

    /// The report 50 ms after `packets`, given as numbers and milliseconds, as it is after writing and parsing.
    private func report(
        _ arrivals: inout TransportArrivals, _ packets: [(number: UInt16, time: Int64)]
    ) throws -> TransportFeedback {
        for packet in packets { arrivals.note(packet.number, at: at(packet.time)) }
        let due = arrivals.deadline
        #expect(arrivals.report(now: due - .milliseconds(1)) == nil)
        let written = arrivals.report(now: due)
        let report = try #require(written)
        var bytes: [UInt8] = []
        report.write(into: &bytes)
        #expect(try RTCPPacket.parse(bytes[...]) == [.transportFeedback(report)])
        return report
    }

    @Test("each arrival is reported once, with what is missing between, over the end of the numbers")
    func reports() throws {
        var arrivals = TransportArrivals(sender: SSRC(5), now: start)
        #expect(arrivals.deadline == .distantFuture)
        let first = try report(&arrivals, [(65534, 100), (65535, 101), (1, 103)])
        #expect(first.sender == SSRC(5) && first.media == SSRC(9) && first.base == 65534)
        // 100 ms are 64 ms and 144 units of 250 µs.
        #expect(first.referenceTime == 1 && first.feedbackCount == 0)
        #expect(
            first.arrivals == [
                .received(delta: 144), .received(delta: 4), .notReceived, .received(delta: 8),
            ])
        #expect(arrivals.deadline == .distantFuture)
        // 2 is lost, and 0 was overtaken.
        let second = try report(&arrivals, [(3, 200), (0, 201)])
        #expect(second.base == 0 && second.feedbackCount == 1)
        #expect(second.referenceTime == 3)
        #expect(
            second.arrivals == [
                .received(delta: 36), .notReceived, .notReceived, .received(delta: -4),
            ])
    }

    @Test("a packet that arrives twice is reported once, and a long silence begins another report")
    func silence() throws {
        var arrivals = TransportArrivals(sender: SSRC(5), now: start)
        for (number, time) in [(UInt16(10), Int64(0)), (10, 5), (11, 20_000)] {
            arrivals.note(number, at: at(time))
        }
        let reports = (0..<3).map { _ in arrivals.report(now: at(20_000)) }
        let first = try #require(reports[0])
        #expect(first.base == 10 && first.arrivals == [.received(delta: 0)])
        let second = try #require(reports[1])
        #expect(second.base == 11 && second.arrivals.count == 1 && second.referenceTime == 312)
        #expect(reports[2] == nil)
    }

    @Test("packets that have waited to be read are reported together, with the times of their arrivals")
    func unread() throws {
        var arrivals = TransportArrivals(sender: SSRC(5), now: start)
        for number in Int64(0)..<3 {
            arrivals.note(UInt16(number), of: SSRC(9), arrival: at(64 + number * 10), now: at(264))
            #expect(arrivals.report(now: at(264)) == nil)
        }
        let written = arrivals.report(now: at(264) + TransportArrivals.interval)
        let report = try #require(written)
        #expect(report.referenceTime == 1)
        #expect(report.arrivals == [.received(delta: 0), .received(delta: 40), .received(delta: 40)])
        #expect(arrivals.deadline == .distantFuture)
    }

    @Test("after a jump, a report starts at the new number, and no number makes a report too long")
    func jump() throws {
        var arrivals = TransportArrivals(sender: SSRC(5), now: start)
        _ = try report(&arrivals, [(1, 0)])
        let jumped = try report(&arrivals, [(20_000, 100)])
        #expect(jumped.base == 20_000 && jumped.arrivals.count == 1)
        for number in stride(from: 0, through: 65_000, by: 1000) {
            arrivals.note(UInt16(number), at: at(200))
        }
        let written = arrivals.report(now: at(300))
        let last = try #require(written)
        #expect(last.arrivals.count <= TransportFeedback.maxArrivalCount)
        // Before the first report too.
        var early = TransportArrivals(sender: SSRC(5), now: start)
        for number in [UInt16(0), 30_000, 60_000, 24_464] { early.note(number, at: at(0)) }
        let only = early.report(now: at(50))
        #expect(only?.base == 24_464 && only?.arrivals.count == 1)
        #expect(early.deadline == .distantFuture)
    }

    @Test("the number is found in either form of the header extension", arguments: [UInt8(3), 20])
    func number(id: UInt8) throws {
        let header = RTPPacketHeader(
            marker: false, payloadType: PayloadType(96), sequenceNumber: SequenceNumber(1),
            timestamp: RTPTimestamp(2), ssrc: SSRC(3))
        let elements: [UInt8] =
            id < 15
            ? [0xBE, 0xDE, 0, 2, 0x10, 7, 0, id << 4 | 1, 0x12, 0x34, 0, 0]
            : [0x10, 0x00, 0, 2, 1, 0, id, 2, 0x12, 0x34, 0, 0]
        var bytes: [UInt8] = []
        header.write(into: &bytes, hasExtension: true)
        bytes += elements + [1, 2, 3]
        let packet = try RTPPacket(parsing: bytes[...])
        #expect(packet.transportNumber(id) == 0x1234)
        #expect(packet.transportNumber(id + 1) == nil)
        // A length beyond the end.
        var broken = bytes
        broken[RTPPacketHeader.byteCount + 7] = id < 15 ? id << 4 | 0x0F : 0xFF
        #expect(try RTPPacket(parsing: broken[...]).transportNumber(id) == nil)
    }
}

extension TransportArrivals {
    /// Records a packet of the stream 9, which is read as soon as it has arrived.
    fileprivate mutating func note(_ number: UInt16, at time: MonotonicTime) {
        note(number, of: SSRC(9), arrival: time, now: time)
    }
}
