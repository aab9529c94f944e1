public import CaptureLink
import Glibc
public import Recording

/// Reads a recording, a raw dump or an Annex B file, from a disk or a pipe, in bounded memory.
///
///     let file = try RecordedFile(path: "screen.srr")
///     while let item = try file.next() { … }
///     if let fault = file.fault { … }             // where and why the whole part ends
///
/// Not thread-safe: one thread at a time. Closes the file when it goes.
public final class RecordedFile {
    /// So much is read at once.
    private static let pieceCount = 64 << 10

    /// Where it was opened.
    public let path: String
    private let descriptor: Int32
    private var stream: RecordedStream
    private var isAtEnd = false

    /// Opens the file and looks at its first bytes. `-` is standard input.
    ///
    /// - Throws: where it can't be opened, or is none of the three (`unrecognized`). A file that is damaged or cut further
    ///   on opens, and has a `fault` then.
    public init(path: String) throws(RecordingFileError) {
        self.path = path
        descriptor = try systemCall("open", path) {
            path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC)
        }
        stream = RecordedStream(form: .annexB)
        stream = try firstLook()
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Which of the three it is.
    public var form: RecordedForm { stream.form }
    /// A recording's header, from the beginning on (of a pipe: once its bytes have come); nil for other files, and where it
    /// is damaged.
    public var header: RecordingHeader? { stream.header }
    /// The form of a dump's messages, once the first of them was read.
    public var linkForm: LinkForm? { stream.linkForm }
    /// Why `next()` gave nil before the file's end; nil where all of the file was whole.
    public var fault: RecordingFault? { stream.fault }
    /// The end of all that was given: where the next item would begin.
    public var offset: UInt64 { stream.offset }
    /// Whether a recording's last item says that nothing is missing behind it. Where a recording is whole but has no such
    /// end, its recorder was killed between two records, or still runs.
    public var hasEnd: Bool { stream.hasEnd }

    /// The next item; nil at the end of the file and at a `fault`.
    ///
    /// - Throws: where reading fails.
    public func next() throws(RecordingFileError) -> RecordedItem? {
        while true {
            if let item = stream.next() { return item }
            if stream.fault != nil || isAtEnd { return nil }
            let piece = try read()
            stream.push(piece[...])
        }
    }

    /// Goes on behind a fault, with the next item that is whole. What was left out is from the fault's offset to that item's,
    /// or to the file's end.
    public func goOn() { stream.goOn() }

    /// Goes to `offset`, where an item begins (`RecordedItem.offset`), or to the file's front (0).
    ///
    /// - Throws: `notSeekable` for a pipe.
    public func seek(to offset: UInt64) throws(RecordingFileError) {
        try systemCall("lseek", path) { lseek(descriptor, Int(clamping: offset), SEEK_SET) }
        isAtEnd = false
        stream.restart(at: offset)
    }

    /// The stream of the form that the first bytes show.
    private func firstLook() throws(RecordingFileError) -> RecordedStream {
        var front: [UInt8] = []
        while front.count < RecordedForm.firstLook, !isAtEnd { front += try read() }
        let form: RecordedForm
        do throws(RecordingFault) {
            form = try RecordedForm(front: front)
        } catch {
            throw .unrecognized(path: path, reason: error.description)
        }
        var stream = RecordedStream(form: form)
        stream.push(front[...])
        if isAtEnd { stream.finish() }
        return stream
    }

    /// The next bytes of the file; none at its end, which the stream is told then.
    private func read() throws(RecordingFileError) -> [UInt8] {
        let count = Self.pieceCount
        var failure: RecordingFileError?
        let piece = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(RecordingFileError) {
                filled = try systemCall("read", path) { Glibc.read(descriptor, buffer.baseAddress, count) }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        if piece.isEmpty {
            isAtEnd = true
            stream.finish()
        }
        return piece
    }
}
