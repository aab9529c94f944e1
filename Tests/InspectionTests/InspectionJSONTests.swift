import CaptureLink
import Foundation
import Inspection
import TestSupport
import Testing

@Suite("Inspection as JSON")
struct InspectionJSONTests {
    private struct Line: Decodable {
        var type: String
        var offset: UInt64?
        var time: Double?
        var size: UInt64?
        var kindName: String?
        var pictureType: String?
        var idr: Bool?
        var damage: Area?
        var text: String?
        var code: String?
        var pictures: UInt64?
        var faults: UInt64?

        struct Area: Decodable {
            var x, y, width, height: Int
        }
    }

    private func lines(_ bytes: [UInt8]) throws -> [Line] {
        let found = try #require(inspect(bytes))
        let text = found.rows.map { InspectionJSON.line($0) } + [InspectionJSON.line(found.summary, form: "test")]
        return try text.map { line in
            #expect(line.filter { $0 == "\n" }.count == 1)
            return try JSONDecoder().decode(Line.self, from: Data(line.utf8))
        }
    }

    @Test("every line is an object that Foundation reads, and the last is the summary")
    func lines() throws {
        let stream = try MadeStream()
        let lines = try lines(stream.recording().bytes)
        #expect(lines.filter { $0.type == "message" }.count == stream.messages.count)
        let pictures = lines.filter { $0.type == "picture" }
        #expect(pictures.map(\.pictureType) == ["IDR", "P", "P", "P", "IDR", "P"])
        #expect(pictures.first?.damage?.width == 64)
        #expect(pictures.last?.time == 1.505)
        #expect(lines.last?.type == "summary")
        #expect(lines.last?.pictures == 6)
        #expect(lines.last?.faults == 0)
    }

    @Test("texts of a hostile sender stay inside their strings")
    func hostileText() throws {
        var stream = try MadeStream()
        stream.messages[0] = stream.message(
            .end(.init(reason: .other, text: "a\"b\\c\n\u{1}\u{7f}\u{85}ü")), at: MadeStream.start)
        let lines = try lines(stream.recording().bytes)
        #expect(lines.contains { $0.text == "other: a\"b\\c\n\u{1}\u{7f}\u{85}ü" })
    }

    @Test("a fault is a line with a code and a place")
    func fault() throws {
        let stream = try MadeStream()
        let (bytes, ends) = stream.recording()
        let lines = try lines(Array(bytes[..<(ends[3] + 5)]))
        let fault = try #require(lines.first { $0.type == "fault" })
        #expect(fault.code == "cutFile")
        #expect(fault.offset == UInt64(ends[3]))
    }
}
