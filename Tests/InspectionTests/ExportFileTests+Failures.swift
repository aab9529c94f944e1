import Exporting
import MediaFiles
import MediaTypes
import TestSupport
import Testing

extension ExportFileTests {
    @Test("headers that can't be read, a file that can't be created and a full disk are errors with a reason")
    func unwritable() throws {
        let stream = try #require(TestStreams.all.first { !$0.isDamaged })
        let pictures = export(try stream.bytes())
        var plan = ExportPlan()
        for picture in pictures { plan.add(picture) }
        let part = try #require(plan.parts.first)
        func write(_ path: String, headers: [[UInt8]]) throws {
            let track = MediaTrack(
                format: part.format, headers: headers, changesHeaders: false, maxStep: part.maxStep,
                lastDuration: part.lastStep)
            let writer = try MediaFileWriter(path: path, container: .matroska, track: track)
            for picture in pictures {
                try writer.write(
                    MediaPacket(
                        frame: picture.frame, decodingTime: picture.time, presentationTime: picture.time))
            }
            try writer.finish()
        }
        #expect(throws: MediaFileError.rejected(reason: "its headers can't be read")) {
            try write(folder.file("without.mkv"), headers: [])
        }
        #expect(throws: MediaFileError.rejected(reason: "No such file or directory")) {
            try write(folder.file("no/such/folder.mkv"), headers: part.headers)
        }
        #expect(throws: MediaFileError.diskFull) { try write("/dev/full", headers: part.headers) }
    }
}
