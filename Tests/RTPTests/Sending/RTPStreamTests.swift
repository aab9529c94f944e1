import MediaTypes
import RTP
import TestSupport
import Testing

struct RTPStreamTests {
    private static let clock = NTPClock(unixOffset: .seconds(1_700_000_000))
    private static let extensions = HeaderExtensionFormat(playoutDelayID: 1, captureTimeID: 2, midID: 3, mid: "0")

    private func stream(rtx: Bool, first: UInt16 = 100) -> RTPStream {
        RTPStream(
            RTPStream.Configuration(
                ssrc: SSRC(0xAAAA), firstSequenceNumber: SequenceNumber(first), timestampOffset: 1000,
                extensions: Self.extensions, clock: Self.clock,
                retransmission: rtx
                    ? RTPStream.Retransmission(
                        ssrc: SSRC(0xBBBB), firstSequenceNumber: SequenceNumber(7),
                        payloadTypes: [PayloadType(96): PayloadType(97)]) : nil))
    }

    private func unit(at ticks: Int64 = 90, captured: Int64? = 5) -> PacketizedFrame {
        H264Packetizer().packetize(
            AccessUnits.unit(
                [[0x67, 1], [0x68, 2], AccessUnits.nalUnit(0x65, count: 3000)], isIDR: true,
                captureTime: captured.map { .zero + .seconds($0) }), at: MediaTime(ticks: ticks))
    }

    private func sendAll(
        _ unit: PacketizedFrame, _ number: FrameNumber, on stream: inout RTPStream
    ) -> [(packet: SentPacket, bytes: [UInt8])] {
        let frame = RTPStream.Frame(unit, number: number, payloadType: PayloadType(96))
        var buffer: [UInt8] = []
        return unit.packets.indices.compactMap { index in
            stream.write(
                packet: index, of: frame,
                extensions: index == 0 ? [.playoutDelay, .captureTime, .mid] : [.playoutDelay], into: &buffer
            ).map { ($0, buffer) }
        }
    }

    @Test("a picture's packets follow each other, share a time stamp, and only the last has the marker")
    func headers() throws {
        var stream = stream(rtx: false, first: 65534)
        let sent = sendAll(unit(), FrameNumber(0), on: &stream)
        let packets = try sent.map { try RTPPacket(parsing: $0.bytes[...]) }
        #expect(packets.map(\.header.sequenceNumber.rawValue) == [65534, 65535, 0, 1])
        #expect(packets.map(\.header.marker) == [false, false, false, true])
        #expect(packets.allSatisfy { $0.header.timestamp == RTPTimestamp(1090) && $0.header.ssrc == SSRC(0xAAAA) })
        #expect(packets[0].extensionData(3).map { Array($0) } == [0x30])
        #expect(packets[0].extensionData(2)?.count == 8)
        #expect(packets[1].extensionElements.map(\.id) == [1])
        #expect(sent.allSatisfy { $0.packet.byteCount == $0.bytes.count })
        #expect(sent.allSatisfy { $0.bytes.count <= 1200 - 16 - 2 })
        #expect(stream.lastSequenceNumber == SequenceNumber(1))
    }

    @Test("sound has the marker only after a silence, and isn't sent if it fits into no datagram")
    func soundMarkers() throws {
        var stream = stream(rtx: false)
        var buffer: [UInt8] = []
        func frame(byteCount: Int) -> PacketizedFrame {
            let format = TrackFormat(codec: .opus)
            let coded = CodedFrame(
                bytes: [0, 0, 0, 1] + [UInt8](repeating: 0xF0, count: byteCount), units: [4..<4 + byteCount],
                isRandomAccess: true, captureTime: nil, format: format)
            return TrackFormat.Codec.opus.packetizer.packetize(coded, at: MediaTime(ticks: 0), format: format)
        }
        for endsSilence in [true, false] {
            let sound = RTPStream.Frame(
                frame(byteCount: 100), number: FrameNumber(0), payloadType: PayloadType(111), endsSilence: endsSilence)
            let sent = try #require(stream.write(packet: 0, of: sound, into: &buffer))
            let packet = try RTPPacket(parsing: buffer[...])
            #expect(packet.header.marker == endsSilence && sent.marker == endsSilence)
            #expect(Array(packet.payload) == [UInt8](repeating: 0xF0, count: 100))
        }
        #expect(frame(byteCount: RTPPayload.maxByteCount).packets.count == 1)
        #expect(frame(byteCount: RTPPayload.maxByteCount + 1).packets.isEmpty)
    }

    @Test("a packet sent again without RTX has the very same bytes, whenever that is")
    func bitForBit() {
        var stream = stream(rtx: false)
        var history = TrackHistory()
        let first = unit()
        stream.playoutDelay = .withSound
        let sent = sendAll(first, history.append(first, at: .zero), on: &stream)
        // It holds for what follows alone.
        stream.playoutDelay = .held(for: .milliseconds(60))
        let second = unit(at: 9999, captured: 77)
        _ = sendAll(second, history.append(second, at: .zero), on: &stream)
        var buffer: [UInt8] = []
        for (packet, bytes) in sent {
            for _ in 0..<2 {
                let again = stream.sent.packet(packet.sequenceNumber)
                #expect(again == packet)
                let isWritten = stream.writeRetransmission(again ?? packet, from: history, into: &buffer)
                #expect(isWritten)
                #expect(buffer == bytes)
            }
        }
        #expect(stream.lastSequenceNumber == SequenceNumber(107))
    }

    @Test("a packet of padding sent again without RTX has the very same bytes too")
    func paddingBitForBit() throws {
        var stream = stream(rtx: false)
        var buffer: [UInt8] = []
        #expect(stream.writePadding(into: &buffer) == nil)
        let last = sendAll(unit(), FrameNumber(0), on: &stream).last
        let padding = try #require(stream.writePadding(4, into: &buffer))
        let bytes = buffer
        let parsed = try RTPPacket(parsing: bytes[...])
        #expect(parsed.payload.isEmpty)
        #expect(parsed.paddingCount == 4)
        #expect(parsed.header.timestamp == last?.packet.timestamp)
        #expect(parsed.header.sequenceNumber == last?.packet.sequenceNumber.next)
        #expect(padding.byteCount == bytes.count)
        let isWritten = stream.writeRetransmission(padding, from: TrackHistory(), into: &buffer)
        #expect(isWritten)
        #expect(buffer == bytes)
    }

    @Test("a retransmission has SSRC, number and payload type of its own, and the original number before the payload")
    func retransmission() throws {
        var stream = stream(rtx: true)
        var history = TrackHistory()
        let unit = unit()
        stream.playoutDelay = .withSound
        let sent = sendAll(unit, history.append(unit, at: .zero), on: &stream)
        stream.playoutDelay = .none
        var buffer: [UInt8] = []
        for (index, (packet, bytes)) in sent.enumerated() {
            let isWritten = stream.writeRetransmission(packet, from: history, into: &buffer)
            #expect(isWritten)
            #expect(buffer.count <= 1200 - 16)
            let original = try RTPPacket(parsing: bytes[...])
            let again = try RTPPacket(parsing: buffer[...])
            #expect(again.header.ssrc == SSRC(0xBBBB))
            #expect(again.header.payloadType == PayloadType(97))
            #expect(again.header.sequenceNumber == SequenceNumber(7).advanced(by: index))
            #expect(again.header.timestamp == original.header.timestamp)
            #expect(again.header.marker == original.header.marker)
            #expect(again.extensionElements.map(\.id) == original.extensionElements.map(\.id))
            #expect(again.extensionData(1).map { Array($0) } == [0, 0, 20])
            #expect(Array(again.payload.prefix(2)) == [0, UInt8(100 + index)])
            #expect(Array(again.payload.dropFirst(2)) == Array(original.payload))
        }
        #expect(stream.retransmissionStatistics.packetCount == 4)
        #expect(stream.statistics.packetCount == 4)
        #expect(stream.lastSequenceNumber == SequenceNumber(103))
    }

    @Test("what the history no longer has, or has no retransmission payload type, is not sent again")
    func gone() throws {
        var stream = stream(rtx: true)
        let unit = unit()
        let sent = sendAll(unit, FrameNumber(0), on: &stream)
        var buffer: [UInt8] = []
        let isWritten = stream.writeRetransmission(sent[0].packet, from: TrackHistory(), into: &buffer)
        #expect(!isWritten)
        #expect(buffer.isEmpty)
        var history = TrackHistory()
        let frame = RTPStream.Frame(unit, number: history.append(unit, at: .zero), payloadType: PayloadType(98))
        let other = stream.write(packet: 0, of: frame, into: &buffer)
        let isOtherWritten = stream.writeRetransmission(try #require(other), from: history, into: &buffer)
        #expect(!isOtherWritten)
        let beyond = stream.write(packet: 4, of: frame, into: &buffer)
        #expect(beyond == nil)
    }

    @Test("an unknown capture time is left out")
    func noCaptureTime() throws {
        var stream = stream(rtx: false)
        let sent = sendAll(unit(captured: nil), FrameNumber(0), on: &stream)
        #expect(sent[0].packet.extensions == [.playoutDelay, .mid])
        #expect(try RTPPacket(parsing: sent[0].bytes[...]).extensionData(2) == nil)
    }

    @Test("the history remembers the last 2048 packets and nothing from before")
    func packetHistory() {
        var history = RTPPacketHistory()
        func packet(_ number: Int) -> SentPacket {
            SentPacket(
                sequenceNumber: SequenceNumber(0).advanced(by: number), timestamp: RTPTimestamp(0),
                payloadType: PayloadType(96), marker: false, extensions: [],
                content: .media(frame: FrameNumber(UInt64(number)), packet: 0), byteCount: 100)
        }
        for number in 0..<70_000 { history.insert(packet(number)) }
        for number in (70_000 - 2048)..<70_000 {
            #expect(history.packet(SequenceNumber(0).advanced(by: number)) == packet(number))
        }
        #expect(history.packet(SequenceNumber(0).advanced(by: 70_000 - 2049)) == nil)
        #expect(history.packet(SequenceNumber(0).advanced(by: 70_000)) == nil)
        #expect(RTPPacketHistory().packet(SequenceNumber(0)) == nil)
    }

    @Test("what was sent more than five seconds ago needs no memory, and nothing newer is forgotten")
    func packetHistoryInTime() {
        var history = RTPPacketHistory()
        func insert(_ number: Int, at seconds: Double) {
            history.insert(
                SentPacket(
                    sequenceNumber: SequenceNumber(0).advanced(by: number),
                    timestamp: RTPTimestamp(UInt32(seconds * 90_000)), payloadType: PayloadType(96), marker: false,
                    extensions: [], content: .media(frame: FrameNumber(UInt64(number)), packet: 0), byteCount: 100))
        }
        for number in 0..<200 { insert(number, at: Double(number)) }
        #expect(history.packet(SequenceNumber(0).advanced(by: 200 - 65)) == nil)
        for number in 200..<1200 { insert(number, at: 200 + Double(number - 200) / 200) }
        let first = (0..<1200).first { history.packet(SequenceNumber(0).advanced(by: $0)) != nil }
        #expect(first.map { $0 <= 201 } == true)
    }

    @Test("no buffer is allocated once it has its capacity")
    func noAllocation() {
        var stream = stream(rtx: false)
        let unit = unit()
        let frame = RTPStream.Frame(unit, number: FrameNumber(0), payloadType: PayloadType(96))
        var buffer: [UInt8] = []
        buffer.reserveCapacity(1500)
        let address = buffer.withUnsafeBufferPointer { $0.baseAddress.map { Int(bitPattern: $0) } }
        for index in unit.packets.indices {
            _ = stream.write(
                packet: index, of: frame, extensions: [.playoutDelay, .captureTime, .mid], into: &buffer)
            #expect(buffer.withUnsafeBufferPointer { $0.baseAddress.map { Int(bitPattern: $0) } } == address)
        }
    }

    @Test("a sender report carries the last picture's time stamp on to its own time and counts payload alone")
    func senderReport() throws {
        var stream = stream(rtx: false)
        #expect(stream.statistics.report(ssrc: SSRC(1), at: .zero, clock: Self.clock, rate: .video) == nil)
        let unit = unit(at: 9000, captured: 5)
        _ = sendAll(unit, FrameNumber(0), on: &stream)
        let now = MonotonicTime.zero + .seconds(7)
        let report = try #require(
            stream.statistics.report(ssrc: SSRC(0xAAAA), at: now, clock: Self.clock, rate: .video))
        #expect(report.rtpTimestamp == RTPTimestamp(1000 + 9000 + 180_000))
        #expect(report.ntpTime == Self.clock.time(at: now))
        #expect(report.packetCount == 4)
        #expect(Int(report.octetCount) == unit.payloadByteCount)
    }

    @Test("only reports count modulo 2^32")
    func largeCounts() throws {
        var statistics = SenderStatistics()
        statistics.noteClock(RTPTimestamp(0), at: .zero)
        for _ in 1...2 { statistics.notePacket(payloadByteCount: 3_000_000_000) }
        #expect(statistics.packetCount == 2 && statistics.octetCount == 6_000_000_000)
        let report = try #require(statistics.report(ssrc: SSRC(1), at: .zero, clock: Self.clock, rate: .video))
        #expect(report.packetCount == 2 && report.octetCount == 1_705_032_704)
    }

    @Test("reports are due once a second, and a stall is not made up for")
    func schedule() {
        var schedule = ReportSchedule(start: .zero + .milliseconds(100))
        func isDue(_ milliseconds: Int64) -> Bool { schedule.isDue(at: .zero + .milliseconds(milliseconds)) }
        #expect([50, 100, 200, 1099, 1103, 2099, 2100].map(isDue) == [false, true, false, false, true, false, true])
        #expect([9000, 9001, 9499, 9500].map(isDue) == [true, false, false, true])
    }

    @Test("the second report to a server is due 250 ms after the first, however late that was")
    func earlySchedule() {
        var schedule = ReportSchedule(start: .zero + .milliseconds(100), hasEarlySecond: true)
        func isDue(_ milliseconds: Int64) -> Bool { schedule.isDue(at: .zero + .milliseconds(milliseconds)) }
        #expect([900, 901, 1149, 1150, 2149, 2150].map(isDue) == [true, false, false, true, false, true])
        #expect(schedule.count == 3)
    }
}
