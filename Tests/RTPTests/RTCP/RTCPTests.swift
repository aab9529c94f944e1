import MediaTypes
import RTP
import TestSupport
import Testing

struct RTCPTests {
    private static let report = ReceptionReport(
        ssrc: SSRC(0x0102_0304), fractionLost: 25, cumulativeLost: -2, highestSequenceNumber: 0x0001_FFFE, jitter: 99,
        lastSenderReport: 0x1122_3344, delaySinceLastSenderReport: 0x8000)

    private static let packets: [RTCPPacket] = [
        .senderReport(
            SenderReport(
                ssrc: SSRC(1), ntpTime: NTPTime(0xE000_0000_8000_0000), rtpTimestamp: RTPTimestamp(77),
                packetCount: 5, octetCount: 6000, receptionReports: [report])),
        .receiverReport(ReceiverReport(ssrc: SSRC(2), receptionReports: [report, report])),
        .genericNack(
            GenericNack(
                sender: SSRC(6), media: SSRC(7),
                sequenceNumbers: [65530, 65535, 0, 10, 27].map { SequenceNumber($0) })),
        .transportFeedback(
            TransportFeedback(
                sender: SSRC(6), media: SSRC(7), base: 65_530, referenceTime: -1, feedbackCount: 255,
                arrivals: [.received(delta: -1), .notReceived, .received(delta: 255), .received(delta: 256)])),
        .pictureLossIndication(PictureLossIndication(sender: SSRC(8), media: SSRC(9))),
        .fullIntraRequest(
            FullIntraRequest(sender: SSRC(10), entries: [.init(ssrc: SSRC(11), sequenceNumber: 255)])),
        .estimatedMaximumBitRate(
            ReceiverEstimatedMaximumBitRate(
                sender: SSRC(12), bitRate: BitRate(bitsPerSecond: 250_000 << 4), sources: [SSRC(13), SSRC(14)])),
        .extendedReport(
            ExtendedReport(
                sender: SSRC(15), referenceTime: NTPTime(42),
                delays: [.init(ssrc: SSRC(16), lastReferenceTime: 17, delaySinceLastReferenceTime: 18)])),
    ]

    private static func bytes(_ packets: [RTCPPacket]) -> [UInt8] {
        var buffer: [UInt8] = []
        for packet in packets { packet.write(into: &buffer) }
        return buffer
    }

    @Test("what is written is read back, alone and put together", arguments: packets)
    func roundTrip(packet: RTCPPacket) throws {
        let alone = Self.bytes([packet])
        #expect(alone.count % 4 == 0)
        #expect(try RTCPPacket.parse(alone[...]) == [packet])
        #expect(try RTCPPacket.parse(Self.bytes(Self.packets + [packet])[...]) == Self.packets + [packet])
    }

    @Test("a sender report with its name has the bytes of RFC 3550")
    func senderReportBytes() {
        var buffer: [UInt8] = []
        SenderReport(
            ssrc: SSRC(0x0102_0304), ntpTime: NTPTime(0x1112_1314_1516_1718), rtpTimestamp: RTPTimestamp(0x2122_2324),
            packetCount: 3, octetCount: 4
        ).writeCompound(canonicalName: "ab", into: &buffer)
        #expect(
            buffer == [
                0x80, 200, 0, 6, 1, 2, 3, 4, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x21, 0x22, 0x23, 0x24,
                0, 0, 0, 3, 0, 0, 0, 4, 0x81, 202, 0, 3, 1, 2, 3, 4, 1, 2, 0x61, 0x62, 0, 0, 0, 0,
            ])
    }

    @Test("a NACK names a packet and, by bits, the sixteen that follow it")
    func nackBytes() throws {
        let bytes: [UInt8] = [0x81, 205, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0xFF, 0xFF, 0x80, 0x01]
        #expect(
            try RTCPPacket.parse(bytes[...]) == [
                .genericNack(
                    GenericNack(
                        sender: SSRC(1), media: SSRC(2), sequenceNumbers: [65535, 0, 15].map { SequenceNumber($0) }))
            ])
    }

    @Test("a REMB as browsers send it is read, and feedback of other applications is skipped")
    func remb() throws {
        // Exponent 3, mantissa 0x20000: 1 048 576 bits a second.
        let bytes: [UInt8] = [
            0x8F, 206, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0x52, 0x45, 0x4D, 0x42, 1, 0x0E, 0, 0, 0, 0, 0, 7,
        ]
        #expect(
            try RTCPPacket.parse(bytes[...]) == [
                .estimatedMaximumBitRate(
                    ReceiverEstimatedMaximumBitRate(
                        sender: SSRC(1), bitRate: BitRate(bitsPerSecond: 1_048_576), sources: [SSRC(7)]))
            ])
        var huge = bytes
        huge[17] = 0xFF
        guard case .estimatedMaximumBitRate(let estimate) = try RTCPPacket.parse(huge[...]).first else {
            Issue.record("no REMB")
            return
        }
        #expect(estimate.bitRate.bitsPerSecond == .max)
        var other = bytes
        other[12] = 0
        #expect(try RTCPPacket.parse(other[...]) == [.unknown(packetType: 206, count: 15)])
    }

    @Test("goodbyes, APP packets and unknown kinds are skipped by their length")
    func skipped() throws {
        let goodbye: [UInt8] = [0x81, 203, 0, 1, 0, 0, 0, 1]
        let app: [UInt8] = [0x82, 204, 0, 3, 0, 0, 0, 1, 0x41, 0x42, 0x43, 0x44, 9, 9, 9, 9]
        // Congestion control feedback of RFC 8888.
        let congestion: [UInt8] = [0x8B, 205, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2]
        let pli = RTCPPacket.pictureLossIndication(PictureLossIndication(sender: SSRC(1), media: SSRC(2)))
        #expect(
            try RTCPPacket.parse((goodbye + app + congestion + Self.bytes([pli]))[...]) == [
                .unknown(packetType: 203, count: 1), .unknown(packetType: 204, count: 2),
                .unknown(packetType: 205, count: 11), pli,
            ])
    }

    @Test("padding at the end is taken off")
    func padding() throws {
        let bytes: [UInt8] = [0xA1, 206, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 4]
        #expect(
            try RTCPPacket.parse(bytes[...]) == [
                .pictureLossIndication(PictureLossIndication(sender: SSRC(1), media: SSRC(2)))
            ])
        #expect(throws: RTPError.invalidPadding(count: 13, available: 12)) {
            try RTCPPacket.parse((bytes.dropLast() + [13])[...])
        }
    }

    @Test("faults are named")
    func faults() {
        #expect(throws: RTPError.truncated(part: "an RTCP header", needed: 4, available: 0)) {
            try RTCPPacket.parse([])
        }
        #expect(throws: RTPError.wrongVersion(0)) { try RTCPPacket.parse([0, 200, 0, 0]) }
        #expect(throws: RTPError.truncated(part: "a list of reception reports", needed: 24, available: 0)) {
            try RTCPPacket.parse([0x81, 201, 0, 1, 0, 0, 0, 1])
        }
    }

    @Test("a long list is cut to the 31 that a header can count, a long name to 255 bytes")
    func cut() throws {
        let long = RTCPPacket.receiverReport(
            ReceiverReport(ssrc: SSRC(2), receptionReports: Array(repeating: Self.report, count: 40)))
        var buffer = Self.bytes([long])
        SourceDescription(ssrc: SSRC(1), canonicalName: String(repeating: "n", count: 400)).write(into: &buffer)
        #expect(
            try RTCPPacket.parse(buffer[...]) == [
                .receiverReport(
                    ReceiverReport(ssrc: SSRC(2), receptionReports: Array(repeating: Self.report, count: 31))),
                .unknown(packetType: 202, count: 1),
            ])
        #expect(buffer.count { $0 == UInt8(ascii: "n") } == 255)
    }

    @Test("the round trip is what is left of the time since our report when the receiver's delay is taken off")
    func roundTripTime() {
        let clock = NTPClock(unixOffset: .seconds(1_700_000_000))
        let sent = clock.time(at: .zero)
        let report = ReceptionReport(
            ssrc: SSRC(1), highestSequenceNumber: 0, lastSenderReport: sent.middle32,
            delaySinceLastSenderReport: 65536 / 2)
        let answer = clock.time(at: MonotonicTime(nanoseconds: 750_000_000))
        #expect(report.roundTripTime(now: answer)?.milliseconds == 250)
        // A little less than nothing is rounding, a second less is nonsense.
        #expect(report.roundTripTime(now: clock.time(at: MonotonicTime(nanoseconds: 499_900_000))) == .zero)
        #expect(report.roundTripTime(now: NTPTime(sent.rawValue &- 5 << 32)) == nil)
        #expect(report.roundTripTime(now: clock.time(at: MonotonicTime(nanoseconds: 100_000_000_000))) == nil)
        #expect(ReceptionReport(ssrc: SSRC(1), highestSequenceNumber: 0).roundTripTime(now: answer) == nil)
    }

    @Test("every prefix of a datagram is read as far as whole packets go, or turned down")
    func prefixes() {
        let bytes = Self.bytes(Self.packets)
        for count in 0..<bytes.count {
            guard let parsed = try? RTCPPacket.parse(bytes.prefix(count)) else { continue }
            #expect(parsed == Array(Self.packets.prefix(parsed.count)))
        }
    }

    @Test("20000 mutated datagrams are never trapped on, and what is read can be written")
    func mutations() {
        var random = SeededRandom(seed: 4)
        for round in 0..<20_000 {
            let first = Self.packets[round % Self.packets.count]
            let second = Self.packets[(round / 7) % Self.packets.count]
            let mutated = random.mutation(of: Self.bytes([first, second]))
            guard let parsed = try? RTCPPacket.parse(mutated[...]) else { continue }
            #expect(Self.bytes(parsed).count % 4 == 0)
        }
    }
}
