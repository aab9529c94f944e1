import H264
import Inspection
import TestSupport
import Testing

/// Pictures of each intact reference stream, as an independent decoder counts them.
private let listedPictures: [(name: String, pictures: UInt64)] = [
    ("Adobe_PDF_sample_a_1024x768_50Frms.264", 50), ("BA_MW_D.264", 100), ("CI_MW_D.264", 100),
    ("MIDR_MW_D.264", 100), ("MPS_MW_A.264", 150), ("NRF_MW_E.264", 100), ("SVA_BA2_D.264", 17),
    ("SVA_Base_B.264", 17), ("SVA_FM1_E.264", 17), ("Zhling_1280x720.264", 19), ("test_vd_1d.264", 9),
    ("BASQP1_Sony_C.jsv", 4),
]

@Suite("Inspection of the reference streams", .enabled(if: ReferenceStreams.isAvailable))
struct ReferenceInspectionTests {
    @Test("as many pictures are found as the stream has, and no fault", arguments: listedPictures)
    func intact(_ entry: (name: String, pictures: UInt64)) throws {
        let summary = try #require(inspect(try ReferenceStreams.bytes(entry.name))).summary
        #expect(summary.pictures == entry.pictures)
        #expect(summary.faultCount == 0, "\(summary.faults)")
        #expect(summary.quantizerRange != nil)
    }

    @Test(
        "a slice's quantizer is the one that FFmpeg reads", .enabled(if: FFmpeg.isAvailable), arguments: listedPictures)
    func quantizers(_ entry: (name: String, pictures: UInt64)) throws {
        let rows = try #require(inspect(try ReferenceStreams.bytes(entry.name))).rows
        let own = rows.messages.compactMap(\.quantizer)
        let traced = try tracedQuantizers(ReferenceStreams.path(entry.name))
        #expect(!own.isEmpty)
        #expect(own == traced)
    }

    @Test(
        "what is damaged is named, with its place",
        arguments: ["BA_MW_D_IDR_LOST.264", "BA_MW_D_P_LOST.264", "Error_I_P.264"])
    func damaged(_ name: String) throws {
        let bytes = try ReferenceStreams.bytes(name)
        let summary = try #require(inspect(bytes)).summary
        #expect(summary.faultCount > 0)
        #expect(summary.faults.values.allSatisfy { $0.first.offset < bytes.count })
    }
}

/// SliceQPY of each slice, as FFmpeg's reader of headers tells its parts.
private func tracedQuantizers(_ path: String) throws -> [Int] {
    let result = try FFmpeg.run(
        ["-v", "info", "-f", "h264", "-i", path, "-c", "copy", "-bsf:v", "trace_headers", "-f", "null", "-"])
    var base: [Int: Int] = [:]
    var picture = 0
    var quantizers: [Int] = []
    for line in result.messages.split(separator: "\n") {
        guard let text = line.split(separator: "=").last, let value = Int(text.filter { $0 != " " }) else { continue }
        if line.contains(" pic_parameter_set_id ") {
            picture = value
        } else if line.contains(" pic_init_qp_minus26 ") {
            base[picture] = 26 + value
        } else if line.contains(" slice_qp_delta ") {
            quantizers.append((base[picture] ?? 0) + value)
        }
    }
    return quantizers
}
