public import CaptureLink
import Glibc
public import Recording
import Threading

/// Reads a recording, a raw dump or an Annex B file, from a disk or a pipe, with bounded memory.
///
///     let file = try RecordedFile(path: "screen.srr")
///     while let item = try file.next() { … }
///     if let fault = file.fault { … }             // the place and reason of a reading error
///
/// Waits for a pipe or a terminal only in poll(2), never in open(2) or read(2), so that its owner can interrupt the
/// wait.
///
/// Not thread-safe: use it from one thread at a time. Closes the file when it is released.
public final class RecordedFile {
    /// The number of bytes that are read at once.
    private static let pieceCount = 64 << 10

    /// The path that was opened.
    public let path: String
    /// The file descriptor, which can be used with poll(2) if `mayRead` doesn't wait.
    public let descriptor: Int32
    private let mayRead: (Int32) -> Bool
    private var stream: RecordedStream
    private var isAtEnd = false

    /// Opens the file and reads its first bytes. The path `-` is standard input.
    ///
    /// - Parameter mayRead: Called with the descriptor before each read. It returns true once the descriptor is
    ///   readable, or false if it isn't or if nothing should be read; this initializer and `next()` then throw
    ///   `interrupted`. The default waits as long as necessary.
    /// - Throws: ``RecordingFileError`` if the file can't be opened or has none of the three formats (`unrecognized`).
    ///   A file that is damaged or truncated further on can be opened, and has a `fault` later.
    public init(
        path: String, mayRead: @escaping (Int32) -> Bool = RecordedFile.waitUntilReadable
    ) throws(RecordingFileError) {
        self.path = path
        self.mayRead = mayRead
        // Opening a FIFO would block until it has a writer. Standard input is shared, so its flags must not change.
        descriptor = try fileCall("open", path) {
            path == "-"
                ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        }
        stream = RecordedStream(form: .annexB)
        stream = try firstLook()
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// The format of the file.
    public var form: RecordedForm { stream.form }
    /// A recording's header, available from the beginning (for a pipe, once its bytes have arrived). Nil for other
    /// formats, and if the header is damaged.
    public var header: RecordingHeader? { stream.header }
    /// The form of a dump's messages, once the first of them has been read.
    public var linkForm: HeaderFormat? { stream.linkForm }
    /// The reason why `next()` returned nil before the end of the file; nil if the whole file was valid.
    public var fault: RecordingError? { stream.fault }
    /// The offset at which the next item begins, which is the end of the last item returned.
    public var offset: UInt64 { stream.offset }
    /// Whether a recording's last item is the end record, which says that nothing is missing. If a recording is
    /// complete but has no end record, its recorder was killed between two records or is still running.
    public var hasEnd: Bool { stream.hasEnd }
    /// A message about a recording that was read to the end of the file without an end record; nil in all other cases.
    public var missingEnd: String? {
        guard isAtEnd, form == .recording, !hasEnd, fault == nil else { return nil }
        return "the recording has no end: its recorder was killed, or still runs; it is whole up to byte \(offset)"
    }

    /// The number of bytes that were read but are not yet part of an item.
    var keptBytes: Int { stream.keptBytes }

    /// Whether the file can be read again from its beginning.
    public var isSeekable: Bool { lseek(descriptor, 0, SEEK_CUR) >= 0 }

    /// Whether it is the program's standard input, under whatever name.
    public var isStandardInput: Bool {
        var own = stat()
        var input = stat()
        guard fstat(descriptor, &own) == 0, fstat(STDIN_FILENO, &input) == 0 else { return path == "-" }
        return own.st_dev == input.st_dev && own.st_ino == input.st_ino
    }

    /// Waits until `descriptor` is readable or at its end, and returns true.
    public static func waitUntilReadable(_ descriptor: Int32) -> Bool {
        while waitForEvents(on: descriptor) == 0 {}
        return true
    }

    /// The next item. Nil at the end of the file and at a `fault`.
    ///
    /// - Throws: ``RecordingFileError`` if reading fails. If `mayRead` returned false, the error is `interrupted` and
    ///   the call may be repeated.
    public func next() throws(RecordingFileError) -> RecordedItem? {
        while true {
            if let item = stream.next() { return item }
            if stream.fault != nil || isAtEnd { return nil }
            let piece = try read()
            stream.push(piece[...])
        }
    }

    /// Continues after a fault with the next complete item. The bytes that were left out are those from the fault's
    /// offset to that item's offset, or to the end of the file.
    public func resumeAfterDamage() { stream.resumeAfterDamage() }

    /// Moves to `offset`, where an item begins (`RecordedItem.offset`), or to the beginning of the file (0).
    ///
    /// - Throws: `notSeekable` for a pipe.
    public func seek(to offset: UInt64) throws(RecordingFileError) {
        try fileCall("lseek", path) { lseek(descriptor, Int(clamping: offset), SEEK_SET) }
        isAtEnd = false
        stream.restart(at: offset)
    }

    /// Creates a stream of the format that the first bytes indicate.
    private func firstLook() throws(RecordingFileError) -> RecordedStream {
        var front: [UInt8] = []
        while front.count < RecordedForm.firstLook, !isAtEnd { front += try read() }
        let form: RecordedForm
        do throws(RecordingError) {
            form = try RecordedForm(front: front)
        } catch {
            throw .unrecognized(path: path, reason: error.description)
        }
        var stream = RecordedStream(form: form)
        stream.push(front[...])
        if isAtEnd { stream.finish() }
        return stream
    }

    /// Reads the next bytes. At the end of the file, tells the stream and returns none.
    private func read() throws(RecordingFileError) -> [UInt8] {
        let count = Self.pieceCount
        guard mayRead(descriptor) else { throw .interrupted(path: path) }
        var code: Int32 = 0
        let piece = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let taken = Glibc.read(descriptor, buffer.baseAddress, count)
            code = taken < 0 ? errno : 0
            filled = max(0, taken)
        }
        // The descriptor was readable, but another reader was faster.
        if code == EINTR || code == EAGAIN { return try read() }
        if code != 0 { throw RecordingFileError(call: "read", path: path, code: code) }
        if piece.isEmpty {
            isAtEnd = true
            stream.finish()
        }
        return piece
    }
}
