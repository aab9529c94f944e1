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
    /// How many bytes the records have taken from the file's budget.
    private var taken: UInt64 = 0

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

    /// Like `start(path:)`, but the thread creates the file itself, so that a disk that hangs delays no caller. If that
    /// fails, recording stops.
    static func start(
        creating path: String, budget: RecordingBudget?, backlog: RecordingBacklog
    ) throws(RecordingFileError) -> NamedThread {
        let thread = NamedThread("recording", blocksSignals: true) {
            do throws(RecordingFileError) {
                let file = try RecordingFile(creating: path, header: backlog.header, budget: budget)
                RecordingFileThread(file: file, backlog: backlog).run()
            } catch {
                backlog.fail(error, fileBytes: 0)
                backlog.end()
            }
        }
        guard let thread else { throw .system(call: "pthread_create", path: path, code: EAGAIN) }
        return thread
    }

    private func run() {
        defer { backlog.end() }
        do throws(RecordingFileError) {
            while let entries = backlog.take() {
                for entry in entries { try add(entry) }
                try flush()
            }
            let counters = backlog.counters
            if counters.messages == 0, counters.missingMessages == 0, file.removeIfNew() {
                file.budget?.giveBack(RecordingFile.share(file.header) + taken)
                return
            }
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

    /// Takes the room for a record with `content` bytes; throws if the budget has no more. The end record has its room
    /// since the file was created.
    private func takeRoom(for content: Int) throws(RecordingFileError) {
        guard let budget = file.budget else { return }
        let count = UInt64(content + RecordingWriter.recordHeaderCount)
        guard budget.take(count) else { throw .limitReached(path: file.path, limit: budget.limit) }
        taken += count
    }

    private func add(_ entry: RecordingBacklog.Entry) throws(RecordingFileError) {
        switch entry {
        case .connection(let time):
            try takeRoom(for: 0)
            writer.appendConnection(at: time, to: &bytes)
            others += 1
        case .gap(let gap, let time):
            try takeRoom(for: RecordingWriter.gapContentCount)
            writer.appendGap(gap, at: time, to: &bytes)
        case .message(let message, let direction, let time):
            let content = message.bytes[...]
            try takeRoom(for: content.count)
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
