import CaptureLink
import H264
import MediaTypes
import TestSupport
import Testing

@Suite("Streams over the link")
struct StreamTests {
    /// Sends each NAL unit of a stream as a message of `form`, and puts access units together from what arrives.
    private func relay(_ stream: [UInt8], _ form: HeaderFormat) throws -> ([AssembledFrame], FrameCounters) {
        let encoder = MessageEncoder(form: form, epoch: 0)
        var decoder = MessageDecoder()
        var assembler = FrameAssembler()
        var units: [AssembledFrame] = []
        func take() throws {
            while let message = try decoder.next() { assembler.add(message, at: .zero) }
            while let unit = assembler.next() { units.append(unit) }
        }
        for nalUnit in AnnexB.nalUnits(in: stream) {
            decoder.push(
                try encoder.unitHeader(payloadCount: nalUnit.count + 4, captureTime: nil, endsFrame: false))
            decoder.push(AnnexB.startCode)
            decoder.push(stream[nalUnit])
            try take()
        }
        try decoder.finish()
        #expect(decoder.form == form)
        assembler.finish()
        try take()
        return (units, assembler.counters)
    }

    @Test(
        "an intact stream gives one access unit a picture", arguments: TestStreams.intact,
        [HeaderFormat.legacy40, .legacy16])
    func intact(stream: TestStream, form: HeaderFormat) throws {
        let (units, counters) = try relay(try stream.bytes(), form)
        #expect(units.count == stream.pictures)
        #expect(counters.faults == 0)
        #expect(units.first?.frame.isRandomAccess == true)
        for unit in units.map(\.frame) {
            #expect(AnnexB.nalUnits(in: unit.bytes) == unit.units)
            guard unit.isRandomAccess else { continue }
            let first = try #require(unit.units.first)
            #expect(try SequenceParameterSet(nalUnit: unit.bytes[first]).size == stream.size)
            #expect(unit.units.contains { unit.bytes[$0.lowerBound] & 0x1F == 8 })
        }
    }

    @Test("a damaged stream brings nothing down", arguments: TestStreams.damaged, [HeaderFormat.legacy40, .legacy16])
    func damaged(stream: TestStream, form: HeaderFormat) throws {
        let (units, _) = try relay(try stream.bytes(), form)
        #expect(units.count > 1)
        for unit in units { #expect(AnnexB.nalUnits(in: unit.frame.bytes) == unit.frame.units) }
    }

    @Test(
        "FFmpeg decodes what comes out of the link to the pictures of the stream that went in",
        arguments: TestStreams.intact)
    func decoded(stream: TestStream) throws {
        let (units, _) = try relay(try stream.bytes(), .legacy40)
        let folder = try TemporaryFolder()
        let path = try folder.write("relayed.264", units.flatMap(\.frame.bytes))
        let relayed = try FFmpeg.decode(path, to: "yuv420p", input: ["-f", "h264"])
        let original = try FFmpeg.decode(stream.path, to: "yuv420p", input: ["-f", "h264"])
        #expect(!original.bytes.isEmpty)
        #expect(relayed.bytes == original.bytes)
    }
}
