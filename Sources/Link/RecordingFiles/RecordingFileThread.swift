import ByteCoding
import CaptureLink
import Clocks
import Glibc
import MediaTypes
import Recording
import Threading

/// The thread that writes a recording's file: the records of the backlog, up to the size limit, and the end record.
final class RecordingFileThread {
    /// The approximate number of bytes of small records that are written together. Larger messages are written
    /// directly.
    private static let batch = 256 << 10

    private var file: RecordingFile
    private let writer: RecordingWriter
    private let backlog: RecordingBacklog
    private var bytes = ByteWriter()
    /// The ends of the records in `bytes`.
    private var ends: [Int] = []
    /// The messages and the number of other records in `bytes`, which the backlog has to count.
    private var messages: [LinkBytes] = []
    private var others = 0

    init(file: consuming RecordingFile, backlog: RecordingBacklog) {
        writer = RecordingWriter(header: file.header)
        self.file = file
        self.backlog = backlog
    }

    /// Starts the thread, which ends when the backlog is closed and empty.
    func start(path: String) throws(RecordingFileError) -> NamedThread {
        let work = Sent(self)
        // Other threads handle signals. Blocking SIGXFSZ turns it into the error EFBIG.
        guard let thread = NamedThread("recording", blocksSignals: true, body: { work.value.run() }) else {
            throw .system(call: "pthread_create", path: path, code: EAGAIN)
        }
        return thread
    }

    private func run() {
        do throws(RecordingFileError) {
            while let entries = backlog.take() {
                for entry in entries { try add(entry) }
                try flush()
            }
            let counters = backlog.counters
            if counters.messages == 0, counters.missingMessages == 0, file.removeIfNew() { return }
            writer.appendEnd(at: MonotonicTime.now(), to: &bytes)
            try flush()
        } catch {
            var error = error
            if case .limitReached = error, let other = writeEnd() { error = other }
            backlog.fail(error, fileBytes: file.written)
        }
    }

    /// Writes the records that still fit and the end record. Returns the error, if any.
    private func writeEnd() -> RecordingFileError? {
        do throws(RecordingFileError) {
            writer.appendEnd(at: MonotonicTime.now(), to: &bytes)
            try flush()
            return nil
        } catch {
            return error
        }
    }

    /// Throws if a record with `content` bytes would leave no room for the end record.
    private func checkRoom(for content: Int) throws(RecordingFileError) {
        guard let limit = file.sizeLimit else { return }
        let count = bytes.count + content + 2 * RecordingWriter.recordHeaderCount
        if file.written + UInt64(count) > limit { throw .limitReached(path: file.path, limit: limit) }
    }

    private func add(_ entry: RecordingBacklog.Entry) throws(RecordingFileError) {
        switch entry {
        case .connection(let time):
            try checkRoom(for: 0)
            writer.appendConnection(at: time, to: &bytes)
            others += 1
        case .gap(let gap, let time):
            try checkRoom(for: RecordingWriter.gapContentCount)
            writer.appendGap(gap, at: time, to: &bytes)
        case .message(let message, let direction, let time):
            let content = message.bytes[...]
            try checkRoom(for: content.count)
            writer.appendHeader(of: content, form: message.form, direction: direction, at: time, to: &bytes)
            messages.append(message)
            if content.count >= Self.batch { return try flush(content) }
            bytes.append(content)
        }
        ends.append(bytes.count)
        if bytes.count >= Self.batch { try flush() }
    }

    private func flush(_ rest: ArraySlice<UInt8> = []) throws(RecordingFileError) {
        defer {
            bytes.removeAll()
            ends.removeAll(keepingCapacity: true)
            messages.removeAll(keepingCapacity: true)
            others = 0
        }
        try file.write(bytes.bytes[...], ends: ends, rest: rest)
        backlog.wrote(messages, others: others, fileBytes: file.written)
    }
}
