import H264
import Inspection
import TestSupport
import Testing

@Suite("Inspection of streams")
struct StreamInspectionTests {
    @Test("as many pictures are found as the stream has, and no fault", arguments: TestStreams.intact)
    func intact(_ stream: TestStream) throws {
        let summary = try #require(inspect(try stream.bytes())).summary
        #expect(summary.pictures == stream.pictures.map(UInt64.init))
        #expect(summary.faultCount == 0, "\(summary.faults)")
        #expect(summary.qpRange != nil)
    }

    @Test("a slice's quantizer is the one that FFmpeg reads", arguments: TestStreams.intact)
    func qps(_ stream: TestStream) throws {
        let rows = try #require(inspect(try stream.bytes())).rows
        let own = rows.messages.compactMap(\.qp)
        let traced = try tracedQPs(stream.path)
        #expect(!own.isEmpty)
        #expect(own == traced)
    }

    @Test("what is damaged is named, with its place", arguments: TestStreams.damaged)
    func damaged(_ stream: TestStream) throws {
        let bytes = try stream.bytes()
        let summary = try #require(inspect(bytes)).summary
        #expect(summary.faultCount > 0)
        #expect(summary.faults.values.allSatisfy { $0.first.offset < bytes.count })
    }
}

/// SliceQPY of each slice, as FFmpeg's reader of headers tells its parts.
private func tracedQPs(_ path: String) throws -> [Int] {
    let result = try FFmpeg.run(
        ["-v", "info", "-f", "h264", "-i", path, "-c", "copy", "-bsf:v", "trace_headers", "-f", "null", "-"])
    var base: [Int: Int] = [:]
    var picture = 0
    var qps: [Int] = []
    for line in result.messages.split(separator: "\n") {
        guard let text = line.split(separator: "=").last, let value = Int(text.filter { $0 != " " }) else { continue }
        if line.contains(" pic_parameter_set_id ") {
            picture = value
        } else if line.contains(" pic_init_qp_minus26 ") {
            base[picture] = 26 + value
        } else if line.contains(" slice_qp_delta ") {
            qps.append((base[picture] ?? 0) + value)
        }
    }
    return qps
}
