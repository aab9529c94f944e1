import ByteCoding
import CaptureLink
import Glibc
import MediaTypes
import Recording
import TestSupport
import Testing
import Threading

@testable import RecordingFiles

@Suite("Files of recordings")
struct RecordingFilesTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func items(_ file: RecordedFile) throws -> [RecordedItem] {
        var items: [RecordedItem] = []
        while let item = try file.next() { items.append(item) }
        return items
    }

    @Test("each of the three is read from a file as from memory")
    func three() throws {
        let (recording, _) = try sampleRecording(messages: 300, largest: 3_000, seed: 41)
        let dump = Reading(recording).items.flatMap { item -> [UInt8] in
            if case .message(let message, _) = item.content { message.bytes } else { [] }
        }
        let annexB = Reading(recording).items.flatMap { $0.annexB ?? [] }
        for (form, bytes) in [(RecordedForm.recording, recording), (.dump, dump), (.annexB, annexB)] {
            let file = try RecordedFile(path: try folder.write(form.rawValue, bytes))
            #expect(file.form == form)
            #expect(try items(file) == Reading(bytes, form).items)
            #expect(file.fault == nil)
            #expect(file.offset == UInt64(bytes.count))
            #expect((file.header != nil) == (form == .recording))
            #expect(file.linkForm == (form == .dump ? .extended : nil))
            #expect(file.hasEnd == (form == .recording))
        }
    }

    @Test("reading goes on at a place that was seen before", arguments: RecordedForm.allCases)
    func seek(form: RecordedForm) throws {
        let (recording, _) = try sampleRecording(messages: 50, largest: 3_000, seed: 42)
        let whole = Reading(recording).items
        let bytes =
            switch form {
            case .recording: recording
            case .annexB: whole.flatMap { $0.annexB ?? [] }
            case .dump:
                whole.flatMap { item -> [UInt8] in
                    if case .message(let message, _) = item.content { message.bytes } else { [] }
                }
            }
        let file = try RecordedFile(path: try folder.write("file", bytes))
        let all = try items(file)
        for index in [all.count - 1, 7, 0, 20] {
            try file.seek(to: all[index].offset)
            #expect(try items(file) == Array(all[index...]))
        }
        try file.seek(to: 0)
        #expect(try items(file) == all)
    }

    @Test("a pipe is read as a file is, and can't be gone back in")
    func pipe() throws {
        let (bytes, _) = try sampleRecording(messages: 100, largest: 3_000, seed: 43)
        let path = folder.file("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        let writing = NamedThread("writer") {
            let descriptor = open(path, O_WRONLY)
            for start in stride(from: 0, to: bytes.count, by: 777) {
                let piece = Array(bytes[start..<min(bytes.count, start + 777)])
                _ = write(descriptor, piece, piece.count)
            }
            close(descriptor)
        }
        let file = try RecordedFile(path: path)
        #expect(try items(file) == Reading(bytes).items)
        #expect(throws: RecordingFileError.notSeekable(path: path)) { try file.seek(to: 48) }
        writing?.join()
    }

    @Test("what is read from standard input is called that")
    func standardInput() {
        let error = RecordingFileError.unrecognized(path: "-", reason: "it is empty")
        #expect("\(error)" == "standard input can't be read: it is empty")
        #expect("\(RecordingFileError.isFolder(path: "-"))".hasPrefix("standard input is a folder"))
        #expect("\(RecordingFileError.isFolder(path: "s"))".hasPrefix("'s' is a folder"))
    }

    @Test("a file that can't be read is refused by name")
    func refused() throws {
        let missing = folder.file("missing")
        #expect(throws: RecordingFileError.missing(path: missing)) { try RecordedFile(path: missing) }
        #expect(throws: RecordingFileError.isFolder(path: folder.path)) { try RecordedFile(path: folder.path) }
        for (bytes, words) in [([UInt8](), "empty"), (Array("hello, world".utf8), "neither a recording")] {
            let path = try folder.write("file", bytes)
            do throws(RecordingFileError) {
                _ = try RecordedFile(path: path)
                Issue.record("it was taken")
            } catch {
                #expect(error.kind == .data)
                #expect("\(error)".contains(words))
                #expect(!"\(error)".contains("\n"))
            }
        }
    }

    @Test("large messages are read in no more memory than two of them need")
    func memory() throws {
        let header = RecordingHeader(start: .zero, wallClock: 0)
        let path = folder.file("large")
        var file = try RecordingFile(creating: path, header: header)
        let encoder = MessageEncoder(epoch: 1)
        let payload: [UInt8] = [0, 0, 0, 1, 0x41] + [UInt8](repeating: 7, count: (8 << 20) - 5)
        let message =
            try encoder.unitHeader(payloadCount: payload.count, captureTime: nil, endsFrame: true) + payload
        for _ in 0..<6 { try file.write(record(message, header)[...], rest: message[...]) }
        var largest = 0
        weak var opened: RecordedFile?
        let reading = try RecordedFile(
            path: path,
            mayRead: { _ in
                largest = max(largest, opened?.keptBytes ?? 0)
                return true
            })
        opened = reading
        let piece = 64 << 10
        var count = 0
        while let item = try reading.next() {
            count += 1
            #expect(item.byteCount == UInt64(message.count + 24))
            // Beside this one: what came with its last bytes.
            #expect(reading.keptBytes < piece)
        }
        #expect(count == 6)
        #expect((message.count - piece..<message.count).contains(largest))
    }

    @Test("a recording is made for us alone, and takes no other file's place")
    func creating() throws {
        let path = folder.file("new")
        let header = RecordingHeader(start: .zero, wallClock: 3)
        var file = try RecordingFile(creating: path, header: header)
        #expect(file.written == 48)
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        try file.write(record([0x26], header)[...], rest: [0x26])
        #expect(file.written == 48 + 24 + 1)
        #expect(throws: RecordingFileError.exists(path: path)) { _ = try RecordingFile(creating: path) }
        #expect(try fileBytes(path).count == 73)
        _ = try RecordingFile(creating: path, overwriting: true)
        #expect(try fileBytes(path).count == 48)
        let nowhere = folder.file("no/folder")
        let missing = RecordingFileError.folderMissing(path: nowhere, folder: folder.file("no"))
        #expect(throws: missing) { _ = try RecordingFile(creating: nowhere) }
        #expect(missing.kind == .cannotWrite)
        #expect("\(missing)" == "folder '\(folder.file("no"))' does not exist; make it first")
        #expect(throws: RecordingFileError.diskFull(path: "/dev/full", written: 0)) {
            _ = try RecordingFile(creating: "/dev/full", overwriting: true)
        }
    }

    @Test("a symbolic link where a recording is to be made is not followed, wherever it leads")
    func symbolicLink() throws {
        let there = try folder.write("there", [1, 2, 3])
        chmod(there, 0o644)
        for target in [there, folder.file("nothing"), "/dev/null"] {
            let path = folder.file("link")
            #expect(symlink(target, path) == 0)
            #expect(throws: RecordingFileError.exists(path: path)) { _ = try RecordingFile(creating: path) }
            unlink(path)
        }
        #expect(try fileBytes(there) == [1, 2, 3])
        #expect(access(folder.file("nothing"), F_OK) != 0)
    }

    @Test(
        "on a full disk a recording ends with its last whole record",
        .enabled(if: SmallDisk.isAvailable, "only root may mount the small disk that this needs"))
    func fullDisk() throws {
        let disk = try SmallDisk(kilobytes: 256)
        let path = disk.path + "/recording"
        let header = RecordingHeader(start: .zero, wallClock: 3)
        var file = try RecordingFile(creating: path, header: header)
        let message = try message(of: 3_000)
        let one = record(message, header) + message
        let ends = (1...20).map { $0 * one.count }
        let records = Array(repeatElement(one, count: 20).joined())
        var failure: RecordingFileError?
        for _ in 0..<20 where failure == nil {
            do throws(RecordingFileError) {
                try file.write(records[...], ends: ends)
            } catch {
                failure = error
            }
        }
        #expect(failure == .diskFull(path: path, written: file.written))
        #expect(failure?.kind == .system)
        #expect(file.written > 200_000)
        #expect(try fileBytes(path).count == Int(file.written))
        let reading = try RecordedFile(path: path)
        #expect(try items(reading).count == (Int(file.written) - 48) / one.count)
        #expect(reading.fault == nil)
    }

    private func record(_ message: [UInt8], _ header: RecordingHeader) -> [UInt8] {
        var writer = ByteWriter()
        RecordingWriter(header: header).appendHeader(of: message[...], form: .extended, at: .zero, to: &writer)
        return writer.bytes
    }
}

/// A message with a NAL unit, `count` bytes with its header.
func message(of count: Int, picture: Int = 0) throws -> [UInt8] {
    let payload: [UInt8] =
        [0, 0, 0, 1, 0x41, UInt8(truncatingIfNeeded: picture)] + [UInt8](repeating: 7, count: count - 46)
    return try MessageEncoder(epoch: 1).unitHeader(
        payloadCount: payload.count, captureTime: MonotonicTime(nanoseconds: Int64(picture)), endsFrame: true)
        + payload
}
