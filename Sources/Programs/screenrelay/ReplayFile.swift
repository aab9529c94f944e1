import CaptureLink
import MediaTypes
import Recording
import RecordingFiles
import Replaying

/// The file that a replay reads, from front to back and again.
final class ReplayFile {
    private let file: RecordedFile
    private var peeked: [RecordedItem] = []
    private var peekedIndex = 0
    /// Where and why the file can't be read on, in words; nil while that has not been met.
    private(set) var damage: String?
    /// That a recording which was read to its end has none, in words.
    private(set) var missingEnd: String?
    /// A reading that the system refused.
    private(set) var failure: RecordingFileError?
    /// Whether `next()` gave nil because nothing has come yet, or something else is to be looked at first.
    private(set) var isPending = false
    /// Whether who was recorded could say where the pointer is: it is then not in the pictures, but in messages.
    private(set) var tellsPointer = false

    // Who was recorded says so at once, or never.
    private static let peekedLimit = (items: 64, bytes: UInt64(256 << 10))

    /// Opens the file and looks for who was recorded.
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
            switch link.header.kind {
            case .hello:
                if case .hello(let hello)? = (try? link.received())?.body { tellsPointer = hello.tellsPointer }
                break search
            case .nalUnit: break search
            default: continue
            }
        }
    }

    /// For poll(2), while `isPending`.
    var descriptor: Int32 { file.descriptor }
    /// Whether it can be read again.
    var isSeekable: Bool { file.isSeekable }
    /// Whether it is standard input, where nobody can say anything then.
    var isStandardInput: Bool { file.isStandardInput }

    /// The next item; nil at the end of what is whole, and where it `isPending`.
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

    /// Goes to the front; false where the file can't be read again.
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

    /// Where a replay from `time` on begins; nil: at the front. Says so where the recording is over before.
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
