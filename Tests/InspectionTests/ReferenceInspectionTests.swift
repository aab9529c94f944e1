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
        let summary = inspect(annexB: try ReferenceStreams.bytes(entry.name)).summary
        #expect(summary.pictures == entry.pictures)
        #expect(summary.faultCount == 0, "\(summary.faults)")
        #expect(summary.quantizerRange != nil)
    }

    @Test(
        "what is damaged is named, with its place",
        arguments: ["BA_MW_D_IDR_LOST.264", "BA_MW_D_P_LOST.264", "Error_I_P.264"])
    func damaged(_ name: String) throws {
        let bytes = try ReferenceStreams.bytes(name)
        let summary = inspect(annexB: bytes).summary
        #expect(summary.faultCount > 0)
        #expect(summary.faults.values.allSatisfy { $0.first.offset < bytes.count })
    }
}
