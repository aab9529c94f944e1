import MediaTypes
import RTP
import Testing

struct NackResponderTests {
    private func map(_ count: Int, byteCount: Int = 1000) -> RTPPacketHistory {
        var map = RTPPacketHistory()
        for number in 0..<count {
            map.insert(
                SentPacket(
                    sequenceNumber: SequenceNumber(0).advanced(by: number), timestamp: RTPTimestamp(0),
                    payloadType: PayloadType(96), marker: false, extensions: [],
                    content: .media(frame: FrameNumber(0), packet: number), byteCount: byteCount))
        }
        return map
    }

    private func numbers(_ range: Range<Int>) -> [SequenceNumber] {
        range.map { SequenceNumber(0).advanced(by: $0) }
    }

    private func time(_ milliseconds: Int64) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

    @Test("a lost packet is sent again at most once in half a round trip, so that jitter refuses no second request")
    func oncePerRoundTrip() {
        let map = map(10)
        var responder = NackResponder()
        func ask(_ milliseconds: Int64) -> [UInt16] {
            responder.answer(numbers(3..<5), from: map, roundTripTime: .milliseconds(40), at: time(milliseconds))
                .map(\.sequenceNumber.rawValue)
        }
        #expect(ask(0) == [3, 4])
        #expect(ask(0).isEmpty)
        #expect(ask(19).isEmpty)
        #expect(ask(20) == [3, 4])
    }

    @Test("the same number twice in one NACK is one packet")
    func twiceInOne() {
        let map = map(10)
        var responder = NackResponder()
        let answer = responder.answer(
            numbers(1..<2) + numbers(1..<2), from: map, roundTripTime: .zero, at: time(0))
        #expect(answer.count == 1)
        #expect(responder.answer(numbers(1..<2), from: map, roundTripTime: .zero, at: time(9)).isEmpty)
        #expect(responder.answer(numbers(1..<2), from: map, roundTripTime: .zero, at: time(10)).count == 1)
    }

    @Test("packets that were never sent, or too long ago, are not answered")
    func unknown() {
        let map = map(3000)
        var responder = NackResponder()
        let answer = responder.answer(
            [SequenceNumber(5), SequenceNumber(2999), SequenceNumber(3000)], from: map, roundTripTime: nil,
            at: time(0))
        #expect(answer.map(\.sequenceNumber.rawValue) == [2999])
    }

    @Test("whatever a peer asks for, no more goes again in a second than was sent in it and 256 KiB")
    func budget() {
        let map = map(2048)
        var responder = NackResponder()
        responder.noteMediaSent(byteCount: 100_000, at: time(0))
        var resent = 0
        for milliseconds in stride(from: Int64(0), to: 900, by: 10) {
            resent += responder.answer(numbers(0..<2048), from: map, roundTripTime: .zero, at: time(milliseconds))
                .reduce(0) { $0 + $1.byteCount }
        }
        #expect(resent <= 100_000 + NackResponder.allowance)
        #expect(resent > 100_000 + NackResponder.allowance - 1000)
        let later = responder.answer(numbers(0..<2048), from: map, roundTripTime: .zero, at: time(2000))
            .reduce(0) { $0 + $1.byteCount }
        #expect((NackResponder.allowance - 1000...NackResponder.allowance).contains(later))
    }

    @Test("no more goes again than the path takes now")
    func pathRoom() {
        let map = map(10)
        var responder = NackResponder()
        responder.pathRoom = 3500
        #expect(responder.answer(numbers(0..<5), from: map, roundTripTime: .zero, at: time(0)).count == 3)
        #expect(responder.answer(numbers(3..<4), from: map, roundTripTime: .zero, at: time(1)).isEmpty)
        responder.pathRoom = 3500
        #expect(responder.answer(numbers(3..<5), from: map, roundTripTime: .zero, at: time(2)).count == 2)
    }

    @Test("a probe takes from the same budget")
    func probes() {
        let map = map(10)
        var responder = NackResponder()
        responder.noteProbeSent(byteCount: NackResponder.allowance - 500, at: time(0))
        #expect(responder.answer(numbers(0..<1), from: map, roundTripTime: nil, at: time(1)).isEmpty)
        #expect(responder.answer(numbers(0..<1), from: map, roundTripTime: nil, at: time(1100)).count == 1)
    }

    @Test("a NACK for another stream is not answered")
    func otherStream() {
        var stream = RTPStream(
            RTPStream.Configuration(
                ssrc: SSRC(1), firstSequenceNumber: SequenceNumber(0), timestampOffset: 0,
                clock: NTPClock(unixOffset: .zero)))
        var buffer: [UInt8] = []
        let unit = H264Packetizer().packetize(AccessUnits.unit([[0x41, 1]]), at: MediaTime(ticks: 0))
        let frame = RTPStream.Frame(unit, number: FrameNumber(0), payloadType: PayloadType(96))
        _ = stream.write(packet: 0, of: frame, into: &buffer)
        var responder = NackResponder()
        let other = GenericNack(sender: SSRC(9), media: SSRC(2), sequenceNumbers: [SequenceNumber(0)])
        let ours = GenericNack(sender: SSRC(9), media: SSRC(1), sequenceNumbers: [SequenceNumber(0)])
        #expect(stream.answer(other, by: &responder, roundTripTime: nil, at: .zero).isEmpty)
        #expect(stream.answer(ours, by: &responder, roundTripTime: nil, at: .zero).count == 1)
        #expect(stream.answer(ours, by: &responder, roundTripTime: nil, at: .zero).isEmpty)
    }
}
