import MediaTypes
import TestSupport
import Testing

@testable import RTP

@Suite("A picture's samples in a stream's packets")
struct PictureSamplesTests {
    private static let extensions = HeaderExtensionFormat(
        playoutDelayID: 5, captureTimeID: 12, midID: 9, mid: "0", transportNumberID: 4, samplesID: 14)

    private func stream(rtx: Bool) -> RTPStream {
        RTPStream(
            RTPStream.Configuration(
                ssrc: SSRC(0xAAAA), firstSequenceNumber: SequenceNumber(100), timestampOffset: 1000,
                extensions: Self.extensions, clock: NTPClock(unixOffset: .seconds(1_700_000_000)),
                retransmission: rtx
                    ? RTPStream.Retransmission(
                        ssrc: SSRC(0xBBBB), firstSequenceNumber: SequenceNumber(7),
                        payloadTypes: [PayloadType(96): PayloadType(97)]) : nil))
    }

    private func samples(at index: UInt16) -> PictureSamples {
        PictureSamples(
            of: I420Picture(
                size: PictureSize(width: 2, height: 2), bytes: [1, 2, 3, 4, 5, 6], isFullRange: false, matrix: .bt601,
                captureTime: nil), at: SampleIndex(rawValue: index))
    }

    private func frame(_ check: PictureCheck?, byteCount: Int = 60) -> PacketizedFrame {
        var unit = AccessUnits.unit(
            [AccessUnits.nalUnit(0x65, count: byteCount)], isIDR: true, captureTime: .zero + .seconds(5))
        unit.check = check
        return H264Packetizer().packetize(unit, at: MediaTime(ticks: 90))
    }

    /// The elements of the packet that `stream` writes for the frame.
    private func elements(
        _ stream: inout RTPStream, _ frame: PacketizedFrame, into buffer: inout [UInt8]
    ) throws -> [UInt8: [UInt8]] {
        let sent = try #require(
            stream.write(
                packet: 0, of: RTPStream.Frame(frame, number: FrameNumber(0), payloadType: PayloadType(96)),
                extensions: [.playoutDelay, .captureTime, .mid, .samples], transportNumber: 3, into: &buffer))
        #expect(sent.byteCount == buffer.count)
        let read = try RTPPacket(parsing: buffer[...])
        return Dictionary(
            uniqueKeysWithValues: read.extensionElements.map { ($0.id, Array(read.extensionData($0.id) ?? [])) })
    }

    @Test("take the place of the capture time, and the largest packet is no larger")
    func written() throws {
        var stream = stream(rtx: false)
        var buffer: [UInt8] = []
        let check = PictureCheck(samples(at: 128))
        // A packet as large as there can be.
        let found = try elements(&stream, frame(check, byteCount: RTPPayload.maxByteCount), into: &buffer)
        #expect(found.keys.sorted() == [4, 5, 9, 14])
        #expect(found[14] == check.samples?.bytes)
        #expect(buffer.count <= 1200 - 16 - 2)
        #expect(try elements(&stream, frame(nil), into: &buffer).keys.sorted() == [4, 5, 9, 12])
    }

    @Test("are left out while they aren't known, and then until their place is told whole")
    func order() throws {
        var stream = stream(rtx: false)
        var buffer: [UInt8] = []
        func isSent(_ check: PictureCheck) throws -> Bool {
            try elements(&stream, frame(check), into: &buffer)[14] != nil
        }
        #expect(try !isSent(PictureCheck(samples(at: 13))))
        #expect(try isSent(PictureCheck(samples(at: 128))))
        #expect(try isSent(PictureCheck(samples(at: 141))))
        #expect(try !isSent(PictureCheck()))
        #expect(try !isSent(PictureCheck(samples(at: 256 + 26))))
        #expect(try isSent(PictureCheck(samples(at: 384))))
        // What follows may be the other layer's.
        stream.forgetSent()
        #expect(try !isSent(PictureCheck(samples(at: 269))))
    }

    /// libwebrtc counts places as packets arrive, so those of a late packet would lead it to a wrong place.
    @Test("aren't retransmitted; what is sent again bit for bit has them as they were", arguments: [false, true])
    func again(rtx: Bool) throws {
        for check in [PictureCheck(samples(at: 128)), PictureCheck()] {
            var stream = stream(rtx: rtx)
            var history = TrackHistory()
            let number = history.append(frame(check), at: .zero)
            var first: [UInt8] = []
            let written = stream.write(
                packet: 0, of: RTPStream.Frame(frame(check), number: number, payloadType: PayloadType(96)),
                extensions: [.playoutDelay, .samples], into: &first)
            let packet = try #require(written)
            check.set(samples(at: 0))
            var second: [UInt8] = []
            #expect(stream.writeRetransmission(packet, from: history, into: &second))
            if !rtx { #expect(first == second) }
            let (one, two) = (try RTPPacket(parsing: first[...]), try RTPPacket(parsing: second[...]))
            let again = two.extensionData(14).map { Array($0) }
            #expect(again == (rtx ? nil : one.extensionData(14).map { Array($0) }))
            #expect(two.extensionData(5) != nil)
        }
    }

    @Test("aren't agreed on where a packet has no room for them")
    func room() {
        func available(mid: String, playout: UInt8? = 5, samples: UInt8 = 14) -> HeaderExtensionSet {
            HeaderExtensionFormat(
                playoutDelayID: playout, captureTimeID: 12, midID: 9, mid: mid, transportNumberID: 4, samplesID: samples
            ).available
        }
        #expect(available(mid: "abc").isSuperset(of: [.mid, .samples]))
        #expect(available(mid: "abcd").contains(.mid) && !available(mid: "abcd").contains(.samples))
        // The two-byte form takes more.
        #expect(!available(mid: "0", samples: 20).contains(.samples))
    }
}
