import ByteCoding
import CaptureLink
import H264
import Inspection
import MediaTypes
import Recording
import TestSupport
import Testing

@Suite("What inspect finds in messages")
struct MessageInspectionTests {
    @Test("messages have their places, times and words; pictures their sizes, quantizers and damage")
    func rows() throws {
        let stream = try MadeStream()
        let (bytes, ends) = stream.recording()
        let found = try #require(inspect(bytes))
        #expect(found.rows.faults.isEmpty)
        #expect(!found.isDamaged)
        #expect(found.rows.messages.map(\.offset) == ends.dropLast().map(UInt64.init))
        #expect(found.rows.messages.first?.text == "capture, version 1, 'test', process 7")
        let pictures = found.rows.pictures
        #expect(pictures.map(\.kindName) == ["IDR", "P", "P", "P", "IDR", "P"])
        #expect(pictures.map { $0.time?.milliseconds } == [5, 38, 71, 505, 538, 1505])
        #expect(pictures.map(\.size) == stream.units.map { UInt64($0.bytes.count) })
        #expect(pictures.map(\.sequenceNumber) == [0, 1, 2, 3, 4, 5])
        #expect(pictures.allSatisfy { $0.damage == PixelRectangle(x: 0, y: 0, width: 64, height: 24) })
        #expect(pictures.allSatisfy { $0.qps != nil })
        #expect(found.rows.notes.map(\.code) == [.connection, .end])
    }

    @Test("the summary counts, and names the largest picture, the longest gap and the distance of IDR pictures")
    func summary() throws {
        let stream = try MadeStream()
        let summary = try #require(inspect(stream.recording().bytes)).summary
        #expect(summary.pictures == 6)
        #expect(summary.duration == .milliseconds(1500))
        #expect(summary.maxGap?.value == 967_000_000)
        #expect(summary.maxGap?.picture == 5)
        #expect(summary.idrDistance.least == 4)
        #expect(summary.idrDistance.count == 1)
        #expect(summary.largest?.value == stream.units.map { Int64($0.bytes.count) }.max())
        #expect(summary.sequences.map(\.sequence.shortText) == ["Constrained Baseline, level 2.1, 64x48"])
        #expect(summary.sequences.first?.count == 2)
        #expect(summary.meanDamage == 0.5)
        #expect(summary.epochs == 1)
        #expect(summary.hellos.map(\.name) == ["test"])
    }

    @Test("bytes of a replayed file that belong to no NAL unit are named, for people and programs")
    func sourceBytes() throws {
        let encoder = MessageEncoder(epoch: MadeStream.epoch)
        let found = try #require(inspect(encoder.encode(.unwatched) + encoder.sourceBytes([0, 0, 0])))
        let row = try #require(found.rows.messages.last)
        #expect(row.kindCode == 11 && row.kindName == "sourceBytes")
        #expect(row.text == "of the file that is replayed, outside its NAL units")
        #expect(InspectionJSON.line(.message(row)).contains("\"kindName\":\"sourceBytes\""))
        #expect(found.summary.text(form: nil).contains("1 sourceBytes"))
        #expect(InspectionJSON.line(found.summary, form: nil).contains("\"sourceBytes\":1"))
    }

    @Test("the same pictures are found in every kind of file")
    func everyForm() throws {
        let stream = try MadeStream()
        let sizes = stream.units.map { UInt64($0.bytes.count) }
        let files = [
            stream.recording().bytes, stream.dump, try stream.legacyDump(.legacy40), try stream.legacyDump(.legacy16),
            stream.annexB,
        ]
        for file in files {
            let found = try #require(inspect(file))
            #expect(found.rows.pictures.map(\.size) == sizes)
            #expect(found.rows.faults.isEmpty)
        }
    }

    @Test("no line of a table is longer than 100 columns, and columns stand under their headings")
    func table() throws {
        let stream = try MadeStream()
        let found = try #require(inspect(stream.recording().bytes))
        let table = InspectionTable(.messages)
        let lines = (table.heading + found.rows.map(table.text).joined()).split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= InspectionTable.width && $0.last != " " })
        #expect(lines.first == "    offset     time s  message          bytes     pic  type  qp  what it says")
        // The columns' ends, where numbers stand to the right.
        let slice = try #require(lines.first { $0.contains("IDR slice") })
        #expect(slice.prefix(10).allSatisfy { $0 == " " || $0.isNumber })
        #expect(slice.dropFirst(10).prefix(2) == "  ")
        #expect(slice.dropFirst(23).prefix(9) == "IDR slice")
        let text = found.summary.text(form: "a recording")
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= InspectionTable.width })
        #expect(text.contains("faults     none\n"))
    }
}

@Suite("Faults that inspect names")
struct FaultTests {
    private static func faults(
        _ change: (inout [MadeStream.Message]) -> Void
    ) throws -> [InspectionFault.Code] {
        var stream = try MadeStream()
        change(&stream.messages)
        return try #require(inspect(stream.recording().bytes)).rows.faults.map(\.code)
    }

    /// Where the messages of kind `kind` stand.
    private static func places(_ kind: MessageKind, _ messages: [MadeStream.Message]) -> [Int] {
        messages.indices.filter { messages[$0].bytes[1] == kind.rawValue }
    }

    /// Where the slices stand: a NAL unit's type is in the byte behind a header of 40 bytes and a start code of 4.
    private static func slices(_ messages: [MadeStream.Message]) -> [Int] {
        places(.unit, messages).filter { [1, 5].contains(messages[$0].bytes[44] & 31) }
    }

    /// A recording of one connection, with the records that `write` appends.
    private static func recording(
        _ write: (RecordingWriter, inout ByteWriter) throws -> Void
    ) rethrows -> [UInt8] {
        let recorder = RecordingWriter(header: RecordingHeader(start: MadeStream.start, wallClock: 0))
        var writer = ByteWriter()
        writer.append(recorder.header.bytes)
        recorder.appendConnection(at: MadeStream.start, to: &writer)
        try write(recorder, &writer)
        return writer.bytes
    }

    /// Pictures of four slices each, of which the first is an IDR picture.
    private static func slicedPictures() throws -> [CodedFrame] {
        let stream = try #require(TestStreams.all.first { $0.name == "slices.h264" })
        return AccessUnitBuilder.accessUnits(inAnnexB: try stream.bytes())
    }

    @Test("a picture that is missing leaves a gap in both counts")
    func missingPicture() throws {
        let found = try Self.faults { messages in
            let notice = Self.places(.picture, messages)[2]
            messages.removeSubrange(notice...notice + 1)
        }
        #expect(found == [.pictureNumberGap, .frameNumberGap])
    }

    @Test("an access unit without its end is named")
    func missingEnd() throws {
        let found = try Self.faults { messages in
            messages[Self.places(.unit, messages)[4]].bytes[2] = 0
        }
        #expect(found == [.missingEnd])
    }

    @Test("a set forbidden bit costs the picture its slice")
    func forbiddenBit() throws {
        let found = try Self.faults { messages in
            messages[Self.places(.unit, messages)[4]].bytes[44] |= 0x80
        }
        // The picture that is lost leaves its gap.
        #expect(found == [.forbiddenBit, .frameNumberGap])
    }

    @Test("without SPS every slice up to the next IDR picture is named")
    func missingSets() throws {
        let found = try Self.faults { messages in
            messages.remove(at: Self.places(.unit, messages)[0])
        }
        #expect(found.filter { $0 == .missingParameterSet }.count == 4)
        // The first picture that can be read is an IDR picture again.
        #expect(found.allSatisfy { $0 == .missingParameterSet })
    }

    @Test("times that run back are named: of arrival, and of capture")
    func timesRunBack() throws {
        let found = try Self.faults { messages in
            messages[Self.places(.unit, messages)[4]].arrival = MadeStream.start
        }
        #expect(found == [.timeRunsBack])
    }

    @Test("a new start of capture in the middle of an access unit cuts it off")
    func cutOff() throws {
        let found = try Self.faults { messages in
            let slice = Self.places(.unit, messages)[4]
            messages[slice].bytes[2] = 0
            for index in messages.indices where index > slice { messages[index].bytes[32] ^= 0x55 }
        }
        #expect(found.first == .cutOffAccessUnit)
    }

    @Test("a control message that can't be read is named, and what follows is shown")
    func malformed() throws {
        let found = try Self.faults { messages in
            messages[0].bytes[42] = 99
        }
        #expect(found == [.malformedMessage])
    }

    @Test("a stream that ends inside an access unit says so")
    func unfinished() throws {
        let found = try Self.faults { messages in
            messages[messages.count - 1].bytes[2] = 0
        }
        #expect(found == [.unfinishedAccessUnit])
    }

    @Test("the table in inspection.md has the code of every fault, and no others")
    func documented() throws {
        let document = String(decoding: try fileBytes(packageRoot + "/Protocol/inspection.md"), as: UTF8.self)
        let section = document.split(separator: "\n").drop { $0 != "## Faults" }.dropFirst()
        let rows = section.prefix { !$0.hasPrefix("## ") }.filter { $0.hasPrefix("| `") }
        let codes = rows.compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) }
        #expect(codes == ["code"] + InspectionFault.Code.allCases.map(\.rawValue))
    }

    @Test("messages that the recorder could not keep are named, with their number and bytes")
    func recordingGap() throws {
        let gap = RecordingGap(messages: 2, bytes: 70_000, from: .milliseconds(3), to: .milliseconds(5))
        let bytes = Self.recording { recorder, writer in
            recorder.appendGap(gap, at: MadeStream.start + .milliseconds(5), to: &writer)
        }
        let faults = try #require(inspect(bytes)).rows.faults
        #expect(faults.map(\.code) == [.recordingGap])
        #expect(faults.first?.text.contains("2 messages (70000 bytes)") == true)
    }

    @Test("a NAL unit of a type that no encoder sends is named, and a parameter set that can't be read")
    func invalidNALUnits() throws {
        let unspecified = try Self.faults { messages in
            messages[Self.slices(messages)[1]].bytes[44] |= 31
        }
        // The picture that is lost leaves its gap.
        #expect(unspecified == [.invalidNALUnit, .frameNumberGap])
        let unreadable = try Self.faults { messages in
            // Of the first SPS, only the byte with its type remains.
            let place = Self.places(.unit, messages)[0]
            for index in 45..<messages[place].bytes.count { messages[place].bytes[index] = 0 }
        }
        #expect(unreadable.first == .invalidNALUnit)
        #expect(unreadable.dropFirst().allSatisfy { $0 == .missingParameterSet })
    }

    @Test("a stream whose first picture is not an IDR picture is named")
    func startsWithoutIDR() throws {
        let found = try Self.faults { messages in
            messages.remove(at: Self.slices(messages)[0])
            messages.remove(at: Self.places(.picture, messages)[0])
        }
        #expect(found == [.startsWithoutIDR])
    }

    @Test("a picture without its first slice is incomplete, and is still counted with its other slices")
    func incompletePicture() throws {
        let pictures = try Self.slicedPictures()
        try #require(pictures.count > 2 && pictures[1].units.count == 4)
        var bytes = pictures[0].bytes
        bytes += pictures[1].bytes[pictures[1].units[0].upperBound...]
        bytes += pictures[2].bytes
        let found = try #require(inspect(bytes))
        #expect(found.rows.faults.map(\.code) == [.incompletePicture])
        #expect(found.rows.pictures.map(\.slices) == [4, 3, 4])
    }

    @Test("an access unit that ends before its first slice is empty")
    func emptyAccessUnit() throws {
        let found = try Self.faults { messages in
            messages[Self.places(.unit, messages)[0]].bytes[2] = MessageFlags.endOfFrame.rawValue
        }
        #expect(found == [.emptyAccessUnit])
    }

    @Test("an access unit of more NAL units than a host accepts is named, and one of just as many is not")
    func oversizedAccessUnit() throws {
        for excess in [0, 1] {
            let found = try Self.faults { messages in
                // The first access unit repeats its SPS.
                let first = Self.places(.unit, messages)[0]
                let count = Self.slices(messages)[0] - first + 1
                let copies = repeatElement(messages[first], count: AccessUnitBuilder.nalUnitLimit - count + excess)
                messages.insert(contentsOf: copies, at: first)
            }
            let expected: [InspectionFault.Code] = excess == 0 ? [] : [.oversizedAccessUnit]
            #expect(found == expected, "\(excess) too many")
        }
    }

    @Test("a slice of a legacy stream that comes more than 40 ms after the rest of its picture is late")
    func lateSlice() throws {
        let picture = try #require(try Self.slicedPictures().first)
        let units = try MessageEncoder(form: .legacy40, epoch: 0).headers(for: picture)
        for (delay, expected) in [(40, []), (41, [.lateSlice])] as [(Int64, [InspectionFault.Code])] {
            let bytes = Self.recording { recorder, writer in
                for (index, unit) in units.enumerated() {
                    let message = unit.header + picture.bytes[unit.payload]
                    let arrival = MadeStream.start + .milliseconds(index == units.count - 1 ? delay : 0)
                    recorder.appendHeader(of: message[...], form: .legacy40, at: arrival, to: &writer)
                    writer.append(message)
                }
            }
            let found = try #require(inspect(bytes)).rows.faults.map(\.code)
            #expect(found == expected, "\(delay) ms")
        }
    }
}
