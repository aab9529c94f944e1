import CaptureLink
import Exporting
import Inspection
import MediaTypes
import Recording
import TestSupport
import Testing

@Suite("Files that are cut or damaged")
struct CutTests {
    /// Small pictures, so that the first 4096 bytes have many records.
    private static func stream() throws -> MadeStream {
        try MadeStream(times: (0..<9).map { $0 * 33 }, idrs: [4, 7])
    }

    private static func cuts(of count: Int, seed: UInt64) -> [Int] {
        var random = SeededRandom(seed: seed)
        return Array(0..<min(4096, count)) + (0..<1000).map { _ in Int.random(in: 0...count, using: &random) }
    }

    @Test("a recording cut anywhere: inspect shows every record that is whole, and names where the file ends")
    func cutRecording() throws {
        let (bytes, ends) = try Self.stream().recording()
        #expect(bytes.count > 4096)
        for cut in Self.cuts(of: bytes.count, seed: 1) {
            guard let found = inspect(Array(bytes[..<cut])) else {
                #expect(cut == 0)
                continue
            }
            let whole = ends.count { $0 <= cut }
            let records = found.rows.messages.count + found.rows.notes.count { $0.code == .connection }
            #expect(records == whole, "cut at \(cut)")
            let isAtRecord = cut == bytes.count || cut == 48 || ends.contains(cut)
            #expect(found.isDamaged != isAtRecord, "cut at \(cut)")
            #expect(found.summary.endOffset == UInt64(cut), "cut at \(cut)")
            if !isAtRecord {
                let fault = try #require(found.rows.faults.first { $0.code == .cutFile }, "cut at \(cut)")
                #expect(fault.offset == UInt64(ends.last { $0 <= cut } ?? (cut < 48 ? 0 : 48)), "cut at \(cut)")
            }
        }
    }

    @Test("a recording cut anywhere: export has every picture that is whole, and no other")
    func cutExport() throws {
        let stream = try Self.stream()
        let (bytes, ends) = stream.recording()
        // The record that ends each access unit.
        let unitEnds = stream.messages.indices.filter { index in
            MessageHeader(decoding: stream.messages[index].bytes[...], form: .extended)?.flags.contains(
                .endOfFrame) == true
        }.map { ends[$0 + 1] }
        for cut in Self.cuts(of: bytes.count, seed: 2) {
            let exported = export(Array(bytes[..<cut]))
            let whole = unitEnds.count { $0 <= cut }
            #expect(exported.map(\.frame.bytes) == stream.units.prefix(whole).map(\.bytes), "cut at \(cut)")
        }
    }

    @Test("dumps of each form, cut anywhere, give every message that is whole", arguments: HeaderFormat.allCases)
    func cutDump(_ form: HeaderFormat) throws {
        let stream = try Self.stream()
        let bytes = form == .extended ? stream.dump : try stream.legacyDump(form)
        let all = try #require(inspect(bytes)).rows.messages
        for cut in Self.cuts(of: bytes.count, seed: 3) where cut > 0 && cut % 4 < 2 {
            let found = try #require(inspect(Array(bytes[..<cut])))
            let whole = all.prefix { $0.offset + UInt64(form.headerCount) + $0.size <= UInt64(cut) }
            #expect(found.rows.messages.map(\.offset) == whole.map(\.offset), "cut at \(cut)")
            #expect(found.summary.endOffset == UInt64(cut), "cut at \(cut)")
            _ = export(Array(bytes[..<cut]))
        }
    }

    @Test("no damage brings inspect or export down, and what stands behind it is found")
    func mutations() throws {
        let stream = try Self.stream()
        let files = [stream.recording().bytes, stream.dump, try stream.legacyDump(.legacy16), stream.annexB]
        var random = SeededRandom(seed: 4)
        for file in files {
            for _ in 0..<150 {
                let mutated = random.mutation(of: file)
                guard let found = inspect(mutated) else { continue }
                #expect(found.rows.faults.allSatisfy { $0.offset <= UInt64(mutated.count) })
                for row in found.rows {
                    #expect(InspectionTable(.messages).text(row).utf8.count < 4000)
                    #expect(InspectionJSON.line(row).hasSuffix("}\n"))
                }
                _ = export(mutated)
            }
        }
    }

    @Test("one damaged record costs itself: all others are shown, and pictures go on with the next IDR picture")
    func oneDamagedRecord() throws {
        let stream = try Self.stream()
        var (bytes, ends) = stream.recording()
        // In the middle of the pictures before the IDR picture 7.
        let notice = try #require(
            stream.messages.indices.filter { stream.messages[$0].bytes[1] == 2 }.dropFirst(5).first)
        let place = ends[notice + 1] + 60
        bytes[place] ^= 0xFF
        let found = try #require(inspect(bytes))
        #expect(found.isDamaged)
        #expect(found.rows.messages.count == stream.messages.count - 1)
        let fault = try #require(found.rows.faults.first { $0.code == .unreadable })
        #expect(fault.offset == UInt64(ends[notice + 1]))
        #expect(fault.text.contains("bytes are left out"))
        let exported = export(bytes)
        #expect(exported.map(\.frame.bytes) == (stream.units[..<5] + stream.units[7...]).map(\.bytes))
    }
}

/// The pictures that an export of a file in memory has.
func export(_ bytes: [UInt8], framesPerSecond: Int = 30) -> [TimedPictures.Picture] {
    var pictures = TimedPictures(framesPerSecond: framesPerSecond)
    var found: [TimedPictures.Picture] = []
    let stream = read(
        bytes,
        item: {
            pictures.add($0)
            while let picture = pictures.next() { found.append(picture) }
        }, fault: { _ in pictures.damaged() })
    guard stream != nil else { return [] }
    pictures.finish()
    while let picture = pictures.next() { found.append(picture) }
    return found
}

extension [InspectedRow] {
    var notes: [InspectedNote] {
        compactMap { row in
            guard case .note(let note) = row else { return nil }
            return note
        }
    }
}
