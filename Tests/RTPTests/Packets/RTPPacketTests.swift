import MediaTypes
import RTP
import TestSupport
import Testing

struct RTPPacketTests {
    private static let header = RTPPacketHeader(
        marker: true, payloadType: PayloadType(96), sequenceNumber: SequenceNumber(0x1234),
        timestamp: RTPTimestamp(0xDEAD_BEEF), ssrc: SSRC(0x0102_0304))

    @Test("a header has the twelve bytes of RFC 3550")
    func headerBytes() {
        var buffer: [UInt8] = []
        Self.header.write(into: &buffer)
        #expect(buffer == [0x80, 0xE0, 0x12, 0x34, 0xDE, 0xAD, 0xBE, 0xEF, 1, 2, 3, 4])
    }

    @Test("what is written is read back")
    func roundTrip() throws {
        var buffer: [UInt8] = []
        Self.header.write(into: &buffer)
        buffer += [0x65, 1, 2, 3]
        let packet = try RTPPacket(parsing: buffer[...])
        #expect(packet.header == Self.header)
        #expect(Array(packet.payload) == [0x65, 1, 2, 3])
        #expect(packet.paddingCount == 0)
    }

    @Test("contributing sources, two-byte extensions and padding are taken off the payload")
    func everything() throws {
        let bytes: [UInt8] =
            [0xB2, 0x60, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3] + [0, 0, 0, 9, 0, 0, 0, 10]
            + [0x10, 0x00, 0, 2, 20, 2, 0xAA, 0xBB, 0, 21, 0, 0] + [1, 2, 3, 0, 0, 3]
        let packet = try RTPPacket(parsing: bytes[...])
        #expect(packet.extensionElements.map(\.id) == [20, 21])
        #expect(packet.extensionData(20).map { Array($0) } == [0xAA, 0xBB])
        #expect(packet.extensionData(21)?.isEmpty == true)
        #expect(Array(packet.payload) == [1, 2, 3])
        #expect(packet.paddingCount == 3)
    }

    @Test("a datagram that is not RTP is turned down with the reason")
    func faults() {
        #expect(throws: RTPError.truncated(part: "the RTP header", needed: 12, available: 3)) {
            try RTPPacket(parsing: [0x80, 0, 0])
        }
        #expect(throws: RTPError.wrongVersion(1)) { try RTPPacket(parsing: [0x40] + Array(repeating: 0, count: 11)) }
        #expect(throws: RTPError.invalidPadding(count: 0, available: 1)) {
            try RTPPacket(parsing: [0xA0] + Array(repeating: 0, count: 12))
        }
        #expect(throws: RTPError.invalidPadding(count: 9, available: 2)) {
            try RTPPacket(parsing: [0xA0] + Array(repeating: 0, count: 12) + [9])
        }
        #expect(RTPError.wrongVersion(1).description.contains("version"))
    }

    @Test("playout delay, capture time and mid stand in the one-byte form, padded to a whole word")
    func extensionBytes() throws {
        let format = HeaderExtensionFormat(playoutDelayID: 6, captureTimeID: 10, midID: 9, mid: "video")
        var buffer: [UInt8] = []
        format.write(
            [.playoutDelay, .captureTime, .mid], playoutDelay: PlayoutDelay(minimum: 0x123, maximum: 0x456),
            captureTime: NTPTime(0x0102_0304_0506_0708), into: &buffer)
        #expect(
            buffer == [
                0xBE, 0xDE, 0, 5, 0x62, 0x12, 0x34, 0x56, 0xA7, 1, 2, 3, 4, 5, 6, 7, 8, 0x94, 0x76, 0x69, 0x64, 0x65,
                0x6F, 0,
            ])
        #expect(format.byteCount(of: [.playoutDelay, .captureTime, .mid]) == buffer.count)
        #expect(format.byteCount(of: [.mid]) == 12)
        #expect(format.byteCount(of: []) == 0)
    }

    @Test("the transport-wide number stands in the one-byte form as in Chromium's packets: ID 4, two bytes")
    func transportNumberBytes() {
        let format = HeaderExtensionFormat(midID: 9, mid: "0", transportNumberID: 4)
        var buffer: [UInt8] = []
        format.write([.mid, .transportNumber], captureTime: NTPTime(0), transportNumber: 0x009B, into: &buffer)
        #expect(buffer == [0xBE, 0xDE, 0, 2, 0x41, 0x00, 0x9B, 0x90, 0x30, 0, 0, 0])
        #expect(format.byteCount(of: [.mid, .transportNumber]) == buffer.count)
        #expect(format.byteCount(of: .transportNumber) == 8)
    }

    @Test("one number over 14 puts all elements in the two-byte form")
    func twoByteForm() {
        let format = HeaderExtensionFormat(
            playoutDelayID: 6, captureTimeID: 10, midID: 9, mid: "vid", transportNumberID: 0x20)
        var buffer: [UInt8] = []
        format.write(
            [.playoutDelay, .captureTime, .mid, .transportNumber],
            playoutDelay: PlayoutDelay(minimum: 0x123, maximum: 0x456), captureTime: NTPTime(0x0102_0304_0506_0708),
            transportNumber: 0xABCD, into: &buffer)
        #expect(
            buffer == [
                0x10, 0x00, 0, 6, 6, 3, 0x12, 0x34, 0x56, 10, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0x20, 2, 0xAB, 0xCD, 9, 3,
                0x76, 0x69, 0x64,
            ])
    }

    @Test("the long form of the capture time ends in an offset of zero")
    func longCaptureTime() throws {
        let format = HeaderExtensionFormat(captureTimeID: 3, captureTimeHasOffset: true)
        var packet: [UInt8] = []
        Self.header.write(into: &packet, hasExtension: true)
        format.write([.captureTime], captureTime: NTPTime(.max), into: &packet)
        packet.append(0x41)
        let read = try RTPPacket(parsing: packet[...])
        #expect(
            read.extensionData(3).map { Array($0) } == Array(repeating: 0xFF, count: 8) + Array(repeating: 0, count: 8))
        #expect(Array(read.payload) == [0x41])
    }

    @Test("no agreed extension writes more than the packetizer leaves room for, and one that can't isn't agreed on")
    func extensionRoom() {
        // The form of the capture time, the transport-wide number, and the longest mid that there is room for.
        let cases: [(offset: Bool, id: UInt8?, room: Int)] = [
            (false, nil, 14), (true, nil, 6), (false, 4, 11), (true, 4, 3), (false, 16, 7), (true, 16, 0),
        ]
        for (offset, id, room) in cases {
            for length in 0...40 {
                let format = HeaderExtensionFormat(
                    playoutDelayID: 1, captureTimeID: 2, midID: 3, mid: String(repeating: "m", count: length),
                    captureTimeHasOffset: offset, transportNumberID: id)
                let all: HeaderExtensionSet = [.playoutDelay, .captureTime, .mid, .transportNumber]
                var buffer: [UInt8] = []
                format.write(all, captureTime: NTPTime(0), into: &buffer)
                #expect(buffer.count <= HeaderExtensionFormat.maxByteCount)
                #expect(buffer.count == format.byteCount(of: all))
                #expect(format.available.contains(.mid) == (length > 0 && length <= room))
                #expect(format.available.contains(.transportNumber) == (id != nil))
            }
        }
        #expect(
            HeaderExtensionFormat(playoutDelayID: 15, captureTimeID: 0, mid: "0", transportNumberID: 15).available
                .isEmpty)
        var buffer: [UInt8] = []
        HeaderExtensionFormat.none.write([.playoutDelay], captureTime: NTPTime(0), into: &buffer)
        #expect(buffer.isEmpty)
    }

    @Test("every prefix and 20000 mutations of packets are read or turned down, never trapped on")
    func mutations() throws {
        let vectors: [[UInt8]] = [
            [0xB2, 0x60, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 9, 0, 0, 0, 10, 0x10, 0x00, 0, 2, 20, 2, 0xAA, 0xBB]
                + [0, 21, 0, 0, 1, 2, 3, 0, 0, 3],
            [0x90, 0xE0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0xBE, 0xDE, 0, 2, 0x62, 1, 2, 3, 0x90, 0x30, 0xF0, 1, 0x65, 7],
        ]
        for vector in vectors {
            for count in 0..<vector.count {
                let packet = try? RTPPacket(parsing: vector.prefix(count))
                if count < RTPPacketHeader.byteCount { #expect(packet == nil) }
            }
        }
        var random = SeededRandom(seed: 2)
        for round in 0..<20_000 {
            let mutated = random.mutation(of: vectors[round % 2])
            guard let packet = try? RTPPacket(parsing: mutated[...]) else { continue }
            #expect(packet.payload.count + packet.paddingCount <= mutated.count)
        }
    }
}
