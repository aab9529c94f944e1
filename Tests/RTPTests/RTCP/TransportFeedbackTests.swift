import RTP
import TestSupport
import Testing

struct TransportFeedbackTests {
    private typealias Arrival = TransportFeedback.Arrival

    private static func received(_ deltas: Int16...) -> [Arrival] { deltas.map { .received(delta: $0) } }
    private static func missing(_ count: Int) -> [Arrival] { Array(repeating: .notReceived, count: count) }

    private static func bytes(_ feedback: TransportFeedback) -> [UInt8] {
        var buffer: [UInt8] = []
        feedback.write(into: &buffer)
        return buffer
    }

    /// A packet of one sender and one stream whose length field is right for `rest`, from the base on.
    private static func packet(_ rest: [UInt8]) -> [UInt8] {
        [0x8F, 205, 0, UInt8((rest.count + 8) / 4), 0, 0, 0, 1, 0, 0, 0, 2] + rest
    }

    private static func feedback(base: UInt16, time: Int32, _ arrivals: [Arrival]) -> TransportFeedback {
        TransportFeedback(
            sender: SSRC(1), media: SSRC(2), base: base, referenceTime: time, feedbackCount: 9, arrivals: arrivals)
    }

    @Test("a run of packets as Chromium sends it, with RTCP padding, is read as Wireshark reads it")
    func chromium() throws {
        // Captured, and dissected by Wireshark, in olivermichel/webrtc-analysis: test/include/data.h.
        let bytes: [UInt8] = [
            0xAF, 0xCD, 0x00, 0x07, 0x00, 0x00, 0x00, 0x01, 0xDD, 0x58, 0x6E, 0xB6, 0x00, 0x01, 0x00, 0x09, 0x5E, 0x91,
            0x10, 0x00, 0x20, 0x09, 0x1C, 0x0C, 0x2C, 0x38, 0x00, 0x04, 0x00, 0x08, 0x18, 0x01,
        ]
        let feedback = TransportFeedback(
            sender: SSRC(1), media: SSRC(3_713_560_246), base: 1, referenceTime: 6_197_520, feedbackCount: 0,
            arrivals: Self.received(28, 12, 44, 56, 0, 4, 0, 8, 24))
        #expect(try RTCPPacket.parse(bytes[...]) == [.transportFeedback(feedback)])
        // We pad with zeros, as the draft does, instead of RTCP's padding.
        #expect(Self.bytes(feedback) == [0x8F] + bytes[1..<31] + [0])
    }

    @Test("the draft's examples of a run and of symbols of one bit")
    func runAndShortSymbols() throws {
        // 221 packets not received; then, by bits, 1 not received, 5 received, 3 not, 3 received, 2 not.
        let bytes = Self.packet([
            0x12, 0x34, 0x00, 0xEB, 0x00, 0x00, 0x01, 0x09, 0x00, 0xDD, 0x9F, 0x1C, 1, 2, 3, 4, 5, 6, 7, 8,
        ])
        let feedback = Self.feedback(
            base: 0x1234, time: 1,
            Self.missing(222) + Self.received(1, 2, 3, 4, 5) + Self.missing(3) + Self.received(6, 7, 8)
                + Self.missing(2))
        #expect(try RTCPPacket.parse(bytes[...]) == [.transportFeedback(feedback)])
        // We take the packet that begins the symbols into the run before it.
        #expect(Self.bytes(feedback) == bytes[..<20] + [0x00, 0xDE, 0xBE, 0x38] + bytes[24...])
    }

    @Test("symbols of one bit as mediasoup has them in its tests")
    func shortSymbols() throws {
        let bytes: [UInt8] = [
            0x8F, 0xCD, 0x00, 0x07, 0xFA, 0x17, 0xFA, 0x17, 0x09, 0xFA, 0xFF, 0x67, 0x00, 0x27, 0x00, 0x0D, 0x5F, 0xC2,
            0xF1, 0x03, 0xBF, 0x8E, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1C, 0x04, 0x00,
        ]
        let feedback = TransportFeedback(
            sender: SSRC(0xFA17_FA17), media: SSRC(0x09FA_FF67), base: 39, referenceTime: 6_275_825, feedbackCount: 3,
            arrivals: Self.received(16, 0, 0, 0, 0, 0, 0) + Self.missing(3) + Self.received(28, 4, 0))
        #expect(try RTCPPacket.parse(bytes[...]) == [.transportFeedback(feedback)])
        #expect(Self.bytes(feedback) == bytes)
    }

    @Test("symbols of two bits, large and negative deltas, a negative reference time")
    func longSymbols() throws {
        // 01 10 00 10 01, and two symbols that nothing stands behind.
        let bytes = Self.packet([
            0xFF, 0xFE, 0x00, 0x05, 0xFF, 0xFF, 0xFE, 0x09, 0xD8, 0x90, 0xFF, 0x01, 0x00, 0xFF, 0xFC, 0x00,
        ])
        let feedback = Self.feedback(
            base: 0xFFFE, time: -2, Self.received(255, 256) + Self.missing(1) + Self.received(-4, 0))
        #expect(try RTCPPacket.parse(bytes[...]) == [.transportFeedback(feedback)])
        #expect(Self.bytes(feedback) == bytes)
    }

    @Test("a run of large deltas, and a chunk that describes more packets than there are")
    func excess() throws {
        // Two packets with symbol 2, then a run of 8191 packets with symbol 1 of which one is left.
        let bytes = Self.packet([0, 1, 0, 3, 0, 0, 0, 9, 0x40, 0x02, 0x3F, 0xFF, 0x7F, 0xFF, 0x80, 0x00, 7, 0, 0, 0])
        let feedback = Self.feedback(base: 1, time: 0, Self.received(.max, .min, 7))
        #expect(try RTCPPacket.parse(bytes[...]) == [.transportFeedback(feedback)])
        // Symbols 3 that nothing stands behind don't matter.
        let vector = Self.packet([0, 1, 0, 1, 0, 0, 0, 9, 0xCF, 0xFF, 0, 0])
        #expect(
            try RTCPPacket.parse(vector[...]) == [.transportFeedback(Self.feedback(base: 1, time: 0, Self.missing(1)))])
    }

    @Test("a packet with the reserved symbol is skipped, and what follows it is read")
    func reserved() throws {
        let pli = PictureLossIndication(sender: SSRC(1), media: SSRC(2))
        for chunk: [UInt8] in [[0x60, 0x01], [0xF0, 0x00]] {
            var bytes = Self.packet([0, 1, 0, 1, 0, 0, 0, 9] + chunk + [0, 0])
            pli.write(into: &bytes)
            #expect(
                try RTCPPacket.parse(bytes[...]) == [
                    .unknown(packetType: 205, count: 15), .pictureLossIndication(pli),
                ])
        }
    }

    @Test("what doesn't fit is refused by name")
    func faults() {
        func error(_ rest: [UInt8]) -> RTPError? {
            #expect(throws: RTPError.self) { try RTCPPacket.parse(Self.packet(rest)[...]) }
        }
        #expect(error([0, 1, 0, 1]) == .truncated(part: "transport-wide feedback", needed: 8, available: 4))
        #expect(
            error([0, 1, 0, 1, 0, 0, 0, 9])
                == .truncated(part: "a chunk of transport-wide feedback", needed: 2, available: 0))
        // Runs of no packets lead nowhere.
        #expect(
            error([0, 1, 0, 1, 0, 0, 0, 9, 0, 0, 0x20, 0])
                == .truncated(part: "a chunk of transport-wide feedback", needed: 2, available: 0))
        #expect(
            error([0, 1, 0, 3, 0, 0, 0, 9, 0x20, 3, 1, 2])
                == .truncated(part: "a delta of transport-wide feedback", needed: 1, available: 0))
        #expect(
            error([0, 1, 0, 2, 0, 0, 0, 9, 0xD8, 0, 1, 2])
                == .truncated(part: "a delta of transport-wide feedback", needed: 2, available: 1))
        // A few bytes that claim nine runs of 8191 packets.
        for count: [UInt8] in [[0xFF, 0xFF], [0x20, 0x01]] {
            let runs = Array(repeating: [0x1F, 0xFF] as [UInt8], count: 10).flatMap { $0 }
            #expect(
                error([0, 1] + count + [0, 0, 0, 9] + runs)
                    == .invalidLength(
                        part: "transport-wide feedback's list of packets", length: Int(count[0]) << 8 | Int(count[1])))
        }
    }

    @Test("no shorter packet is read as the same report")
    func prefixes() throws {
        let whole = Self.bytes(
            Self.feedback(
                base: 7, time: 5, Self.missing(30) + Self.received(-1, 2, 3) + Self.missing(20) + Self.received(4)))
        for words in 1..<whole.count / 4 - 1 {
            var bytes = Array(whole.prefix(4 + words * 4))
            bytes[3] = UInt8(words)
            #expect(throws: RTPError.self) { try RTCPPacket.parse(bytes[...]) }
        }
    }

    @Test("any list of packets is read back as it was written, up to the limit")
    func roundTrip() throws {
        var random = SeededRandom(seed: 15)
        for _ in 0..<2000 {
            var arrivals: [Arrival] = []
            while arrivals.count < 200, Int.random(in: 0..<8, using: &random) > 0 {
                let run = Int.random(in: 1...30, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: arrivals += Self.missing(run)
                case 1: arrivals += (0..<run).map { _ in .received(delta: .random(in: 0...255, using: &random)) }
                case 2: arrivals += (0..<run).map { _ in .received(delta: .random(in: .min ... .max, using: &random)) }
                default:
                    arrivals += (0..<run).map { _ in Bool.random(using: &random) ? .notReceived : .received(delta: 1) }
                }
            }
            let feedback = Self.feedback(
                base: .random(in: 0...(.max), using: &random),
                time: .random(in: -0x80_0000...0x7F_FFFF, using: &random),
                arrivals)
            let bytes = Self.bytes(feedback)
            #expect(bytes.count % 4 == 0)
            #expect(try RTCPPacket.parse(bytes[...]) == [.transportFeedback(feedback)])
        }
        let long = Self.feedback(base: 0, time: 0, Self.missing(20_000))
        let written = Self.bytes(long)
        #expect(written.count == 24)
        #expect(
            try RTCPPacket.parse(written[...]) == [
                .transportFeedback(Self.feedback(base: 0, time: 0, Self.missing(TransportFeedback.maxArrivalCount)))
            ])
        // The limit holds for all of a datagram.
        #expect(throws: RTPError.self) { try RTCPPacket.parse((written + written)[...]) }
    }

    @Test("20000 mutated reports are never trapped on, and keep the limit")
    func mutations() {
        var random = SeededRandom(seed: 205)
        let vectors = [
            Self.missing(222) + Self.received(1, 2, 3), Self.received(-1, 300, 4) + Self.missing(3),
            Self.received(0, 0, 0, 0, 0, 0, 0, 0, 0),
        ].map { Self.bytes(Self.feedback(base: 65_530, time: -9, $0)) }
        for round in 0..<20_000 {
            let mutated = random.mutation(of: vectors[round % vectors.count])
            guard let packets = try? RTCPPacket.parse(mutated[...]) else { continue }
            for case .transportFeedback(let feedback) in packets {
                #expect(feedback.arrivals.count <= TransportFeedback.maxArrivalCount)
            }
        }
    }
}
