import CaptureLink
import Exporting
import Inspection
import MediaTypes
import Recording
import Testing

@Suite("Sound in what is inspected and exported")
struct SoundInspectionTests {
    private func streams() throws -> (plain: MadeStream, sounding: MadeStream) {
        let plain = try MadeStream()
        var sounding = plain
        try sounding.addSound()
        return (plain, sounding)
    }

    @Test("is a line of the summary, which says the same of the pictures as without it")
    func summary() throws {
        let (plain, sounding) = try streams()
        for (one, other) in [
            (plain.recording().bytes, sounding.recording().bytes), (plain.dump, sounding.dump),
        ] {
            let wanted = try #require(inspect(one))
            let found = try #require(inspect(other))
            #expect(found.rows.faults.isEmpty)
            #expect(found.summary.messages == wanted.summary.messages)
            #expect(found.summary.payloadBytes == wanted.summary.payloadBytes)
            #expect(found.summary.nalUnits == wanted.summary.nalUnits)
            #expect(found.summary.epochs == 1)
            #expect(found.summary.duration == wanted.summary.duration)
            #expect(found.rows.pictures.map(\.size) == wanted.rows.pictures.map(\.size))
            #expect(found.rows.pictures.map(\.time) == wanted.rows.pictures.map(\.time))
            let count = plain.messages.count
            #expect(found.summary.sound.packets == UInt64(count))
            #expect(found.summary.sound.duration == .milliseconds(Int64(count) * 10))
            #expect(found.summary.text(form: nil).contains("sound      \(count) packets with \(count * 6) bytes, "))
            #expect(
                InspectionJSON.line(found.summary, form: nil).contains("\"sound\":{\"packets\":\(count),\"bytes\":"))
            #expect(!InspectionJSON.line(wanted.summary, form: nil).contains("sound"))
        }
    }

    @Test("has rows that say how long each packet is")
    func rows() throws {
        let encoder = MessageEncoder(epoch: 0x5555, stream: MessageHeader.soundStream)
        var (_, stream) = try streams()
        stream.messages.append(
            MadeStream.Message(bytes: encoder.encode(.sharing(.paused)), arrival: MadeStream.start + .seconds(2)))
        let found = try #require(inspect(stream.recording().bytes))
        let packet = try #require(found.rows.messages.first { $0.stream == 1 })
        #expect(packet.text == "10 ms, stereo" && packet.duration == .milliseconds(10))
        #expect(InspectionTable(.messages).text(.message(packet)).contains("  sound  "))
        #expect(InspectionJSON.line(.message(packet)).contains("\"stream\":1"))
        #expect(found.rows.messages.last?.text == "paused, of the sound")
    }

    @Test("is left out of exported pictures, which have the same bytes and times as without it")
    func exported() throws {
        func pictures(_ bytes: [UInt8]) -> [TimedPictures.Picture] {
            var timed = TimedPictures(framesPerSecond: 30)
            var pictures: [TimedPictures.Picture] = []
            _ = read(bytes, item: { timed.add($0) }, fault: { _ in })
            timed.finish()
            while let picture = timed.next() { pictures.append(picture) }
            #expect(timed.skipped == 0)
            return pictures
        }
        func annexB(_ bytes: [UInt8]) -> [UInt8] {
            var all: [UInt8] = []
            _ = read(bytes, item: { all += $0.annexB ?? [] }, fault: { _ in })
            return all
        }
        let (plain, sounding) = try streams()
        let wanted = pictures(plain.recording().bytes)
        let found = pictures(sounding.recording().bytes)
        #expect(found.map(\.frame.bytes) == wanted.map(\.frame.bytes))
        #expect(found.map(\.time) == wanted.map(\.time))
        #expect(wanted.count == 6)
        #expect(annexB(sounding.recording().bytes) == plain.annexB)
    }
}
