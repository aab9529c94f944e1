import CaptureLink
import MediaTypes
import Recording
import RecordingFiles
import Replaying

/// The file that a replay reads. It can be read again from the start if it is seekable.
final class ReplayFile {
    private let file: RecordedFile
    private var peeked: [RecordedItem] = []
    private var peekedIndex = 0
    /// Why reading stopped before the end, in words. Nil if that has not happened.
    private(set) var damage: String?
    /// Says that the recording was read to its end but has no end record. Nil if that has not happened.
    private(set) var missingEnd: String?
    /// An error from the system while reading.
    private(set) var failure: RecordingFileError?
    /// Whether `next()` returned nil because no data has come yet or a signal must be handled first.
    private(set) var isPending = false
    /// Whether the recorded capture reported the pointer in messages. It is then not in the pictures.
    private(set) var tellsPointer = false

    // The recorded capture says hello at once or never.
    private static let peekedLimit = (items: 64, bytes: UInt64(256 << 10))

    /// Opens the file and looks for the recorded capture's hello.
    init(path: String, signals: ReplaySignals) throws(RecordingFileError) {
        file = try RecordedFile(path: path) { signals.mayRead($0) }
        var bytes: UInt64 = 0
        search: while peeked.count < Self.peekedLimit.items, bytes < Self.peekedLimit.bytes, let item = read() {
            peeked.append(item)
            bytes += item.byteCount
            guard case .message(let link, .toHost) = item.content else {
                if case .nalUnit = item.content { break }
                continue
            }
            guard link.header.stream == 0 else { continue }
            switch link.header.kind {
            case .hello:
                if case .hello(let hello)? = (try? link.received())?.body { tellsPointer = hello.tellsPointer }
                break search
            case .unit: break search
            default: continue
            }
        }
    }

    /// The descriptor for poll(2) while `isPending`.
    var descriptor: Int32 { file.descriptor }
    /// Whether the file can be read again.
    var isSeekable: Bool { file.isSeekable }
    /// Whether the file is standard input, which then can't take input from a person.
    var isStandardInput: Bool { file.isStandardInput }

    /// The next item. Nil at the end of the readable part, and while `isPending`.
    func next() -> RecordedItem? {
        guard peekedIndex < peeked.count else { return read() }
        defer {
            peekedIndex += 1
            if peekedIndex == peeked.count {
                peeked = []
                peekedIndex = 0
            }
        }
        return peeked[peekedIndex]
    }

    /// Goes back to the start. Returns false if the file can't be read again.
    func rewind() -> Bool {
        do throws(RecordingFileError) {
            try file.seek(to: 0)
            peeked = []
            peekedIndex = 0
            return failure == nil
        } catch {
            failure = error
            return false
        }
    }

    /// Where a replay from `time` begins, or nil for the start of the file; and the length of the recording.
    func start(at time: Interval, period: Interval) -> (start: ReplayStart?, end: Interval) {
        var seek = ReplaySeek(for: time, period: period)
        while let item = next() { seek.take(item) }
        return (seek.start, seek.duration)
    }

    private func read() -> RecordedItem? {
        isPending = false
        do throws(RecordingFileError) {
            if let item = try file.next() { return item }
            if let fault = file.fault { damage = "\(fault)" } else { missingEnd = file.missingEnd }
        } catch {
            if case .interrupted = error { isPending = true } else { failure = error }
        }
        return nil
    }
}
