import CaptureLink
import H264
import MediaTypes
import TestSupport
import Testing

private let intactStreams: [(name: String, count: Int, size: PictureSize)] = [
    ("Adobe_PDF_sample_a_1024x768_50Frms.264", 50, PictureSize(width: 1024, height: 768)),
    ("BA_MW_D.264", 100, quarter), ("CI_MW_D.264", 100, quarter), ("MIDR_MW_D.264", 100, quarter),
    ("MPS_MW_A.264", 150, quarter), ("NRF_MW_E.264", 100, quarter), ("SVA_BA2_D.264", 17, quarter),
    ("SVA_Base_B.264", 17, quarter), ("SVA_FM1_E.264", 17, quarter),
    ("Zhling_1280x720.264", 19, PictureSize(width: 1280, height: 720)),
    ("test_vd_1d.264", 9, PictureSize(width: 320, height: 192)), ("BASQP1_Sony_C.jsv", 4, quarter),
]
private let quarter = PictureSize(width: 176, height: 144)
private let damagedStreams = ["BA_MW_D_IDR_LOST.264", "BA_MW_D_P_LOST.264", "Error_I_P.264"]

@Suite("Reference streams over the link", .enabled(if: ReferenceStreams.isAvailable, "no reference streams here"))
struct ReferenceStreamTests {
    /// Sends each NAL unit of a stream as a message of `form`, and puts access units together from what arrives.
    private func relay(_ stream: [UInt8], _ form: LinkForm) throws -> ([AssembledAccessUnit], AssemblerCounters) {
        let encoder = MessageEncoder(form: form, epoch: 0)
        var decoder = MessageDecoder()
        var assembler = AccessUnitAssembler()
        var units: [AssembledAccessUnit] = []
        func take() throws {
            while let message = try decoder.next() { assembler.add(message, at: .zero) }
            while let unit = assembler.next() { units.append(unit) }
        }
        for nalUnit in AnnexB.nalUnits(in: stream) {
            decoder.push(
                try encoder.nalUnitHeader(payloadCount: nalUnit.count + 4, captureTime: nil, endsAccessUnit: false))
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

    @Test("an intact stream gives one access unit a picture", arguments: intactStreams, [LinkForm.legacy40, .legacy16])
    func intact(stream: (name: String, count: Int, size: PictureSize), form: LinkForm) throws {
        let (units, counters) = try relay(try ReferenceStreams.bytes(stream.name), form)
        #expect(units.count == stream.count)
        #expect(counters.faults == 0)
        #expect(units.first?.accessUnit.isIDR == true)
        for unit in units.map(\.accessUnit) {
            #expect(AnnexB.nalUnits(in: unit.bytes) == unit.nalUnits)
            guard unit.isIDR else { continue }
            let first = try #require(unit.nalUnits.first)
            #expect(try SequenceParameterSet(nalUnit: unit.bytes[first]).size == stream.size)
            #expect(unit.nalUnits.contains { unit.bytes[$0.lowerBound] & 0x1F == 8 })
        }
    }

    @Test("a damaged stream brings nothing down", arguments: damagedStreams, [LinkForm.legacy40, .legacy16])
    func damaged(name: String, form: LinkForm) throws {
        let (units, _) = try relay(try ReferenceStreams.bytes(name), form)
        #expect(units.count > 1)
        for unit in units { #expect(AnnexB.nalUnits(in: unit.accessUnit.bytes) == unit.accessUnit.nalUnits) }
    }

    @Test(
        "FFmpeg decodes what comes out of the link to the pictures of the stream that went in",
        .enabled(if: FFmpeg.isAvailable, "no ffmpeg here"),
        arguments: ["MPS_MW_A.264", "MIDR_MW_D.264", "SVA_Base_B.264", "CI_MW_D.264"])
    func decoded(name: String) throws {
        let (units, _) = try relay(try ReferenceStreams.bytes(name), .legacy40)
        let folder = try TemporaryFolder()
        let path = try folder.write("relayed.264", units.flatMap(\.accessUnit.bytes))
        let relayed = try FFmpeg.decode(path, to: "yuv420p", input: ["-f", "h264"])
        let original = try FFmpeg.decode(ReferenceStreams.path(name), to: "yuv420p", input: ["-f", "h264"])
        #expect(!original.bytes.isEmpty)
        #expect(relayed.bytes == original.bytes)
    }
}
