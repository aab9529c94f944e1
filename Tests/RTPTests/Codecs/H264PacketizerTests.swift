import MediaTypes
import RTP
import TestSupport
import Testing

struct H264PacketizerTests {
    private func payloads(_ unit: PacketizedFrame) -> [[UInt8]] {
        unit.packets.map { payload in
            var bytes: [UInt8] = []
            payload.append(to: &bytes, from: unit.coded.bytes)
            #expect(bytes.count == payload.byteCount)
            return bytes
        }
    }

    private func packetize(_ nalUnits: [[UInt8]], maximum: Int = 1138) -> PacketizedFrame {
        H264Packetizer(maxPayloadByteCount: maximum)
            .packetize(AccessUnits.unit(nalUnits), at: MediaTime(ticks: 0))
    }

    @Test("the room for a payload is 1200 less header, extensions, tag and original sequence number")
    func room() {
        #expect(RTPPayload.maxByteCount == 1138)
        #expect(H264Packetizer().maxPayloadByteCount == 1138)
        #expect(H264Packetizer(maxPayloadByteCount: -1).maxPayloadByteCount == 16)
        #expect(H264Packetizer(maxPayloadByteCount: .max).maxPayloadByteCount == 65535)
    }

    @Test("SPS, PPS and a small IDR slice go in one STAP-A with the greatest importance of all")
    func aggregate() {
        let unit = packetize([[0x27, 1, 2], [0x48, 3], [0x65, 4, 5, 6]])
        #expect(
            payloads(unit) == [[0x78, 0, 3, 0x27, 1, 2, 0, 2, 0x48, 3, 0, 4, 0x65, 4, 5, 6]])
    }

    @Test("a forbidden bit in one NAL unit is the STAP-A's too")
    func aggregateForbidden() {
        #expect(payloads(packetize([[0x06, 1], [0x81, 3]])).first?.first == 0x98)
    }

    @Test("a NAL unit alone goes as it is")
    func single() {
        #expect(payloads(packetize([[0x41, 9, 8]])) == [[0x41, 9, 8]])
    }

    @Test("a large NAL unit goes in fragments of equal size, the last one shorter, with its importance and type")
    func fragments() {
        let nalUnit = AccessUnits.nalUnit(0x65, count: 2300)
        let bytes = payloads(packetize([nalUnit]))
        #expect(bytes.map(\.count) == [775, 775, 755])
        #expect(bytes.map { $0[0] } == [0x7C, 0x7C, 0x7C])
        #expect(bytes.map { $0[1] } == [0x85, 0x05, 0x45])
        #expect(bytes.flatMap { $0.dropFirst(2) } == Array(nalUnit.dropFirst()))
    }

    @Test("parameter sets go together in front of the fragments of an IDR slice")
    func parameterSetsThenFragments() {
        let unit = packetize([[0x67, 1, 2], [0x68, 3], AccessUnits.nalUnit(0x65, count: 5000)])
        #expect(payloads(unit).map { $0[0] & 0x1F } == [24, 28, 28, 28, 28, 28])
        #expect(unit.payloadByteCount == payloads(unit).reduce(0) { $0 + $1.count })
    }

    @Test("delimiters, filler, empty NAL units and types of RFC 6184's own don't go out")
    func skipped() {
        let unit = packetize([[0x09, 0xF0], [], [0x0C, 0xFF], [0x78, 0, 1, 2], [0x7C, 1, 2], [0x00], [0x41, 1]])
        #expect(payloads(unit) == [[0x41, 1]])
        #expect(packetize([]).packets.isEmpty)
    }

    @Test("ranges outside the access unit's bytes are left out")
    func wrongRanges() {
        let unit = CodedFrame(
            bytes: [0x41, 1], units: [0..<2, 1..<9, -3..<1], isRandomAccess: false, captureTime: nil, format: nil)
        #expect(H264Packetizer().packetize(unit, at: MediaTime(ticks: 0)).packets == [.part(RTPPayload.Part(0..<2))])
    }

    @Test("no payload is larger than the maximum, for NAL units of every size around it")
    func limits() {
        for maximum in [16, 17, 100, 1138] {
            for count in [
                1, 2, 3, maximum - 4, maximum - 3, maximum - 2, maximum - 1, maximum, maximum + 1, maximum * 3,
            ] {
                let nalUnits = [
                    AccessUnits.nalUnit(0x67, count: 5), AccessUnits.nalUnit(0x41, count: count),
                    AccessUnits.nalUnit(0x41, count: 3),
                ]
                let unit = packetize(nalUnits, maximum: maximum)
                #expect(unit.packets.allSatisfy { $0.byteCount <= maximum })
                #expect(H264DepacketizerTests.depacketize(unit).map(\.nalUnits) == [nalUnits])
            }
        }
    }
}
