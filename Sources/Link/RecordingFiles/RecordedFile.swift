public import CaptureLink
import Glibc
public import Recording

/// Reads a recording, a raw dump or an Annex B file, from a disk or a pipe, in bounded memory.
///
///     let file = try RecordedFile(path: "screen.srr")
///     while let item = try file.next() { … }
///     if let fault = file.fault { … }             // where and why the whole part ends
///
/// Waits for a pipe or a terminal in poll(2) alone, never in open(2) or read(2), so that its owner can be interrupted meanwhile.
///
/// Not thread-safe: one thread at a time. Closes the file when it goes.
public final class RecordedFile {
    /// So much is read at once.
    private static let pieceCount = 64 << 10

    /// Where it was opened.
    public let path: String
    /// For poll(2), where `mayRead` doesn't wait itself.
    public let descriptor: Int32
    private let mayRead: (Int32) -> Bool
    private var stream: RecordedStream
    private var isAtEnd = false

    /// Opens the file and looks at its first bytes. `-` is standard input.
    ///
    /// - Parameter mayRead: asked with the descriptor before each reading: gives true once it is readable, and false where it
    ///   is not or nothing shall be read: `next` (and this) throws `interrupted` then. By default waits for as long as it takes.
    /// - Throws: where it can't be opened, or is none of the three (`unrecognized`). A file that is damaged or cut further
    ///   on opens, and has a `fault` then.
    public init(
        path: String, mayRead: @escaping (Int32) -> Bool = RecordedFile.waitUntilReadable
    ) throws(RecordingFileError) {
        self.path = path
        self.mayRead = mayRead
        // Opening a FIFO would wait for somebody to write. Standard input is shared: its flags are not ours to change.
        descriptor = try systemCall("open", path) {
            path == "-"
                ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
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
    /// Says that a recording which was read to the file's end is whole but has no end; nil while there is nothing to say.
    public var missingEnd: String? {
        guard isAtEnd, form == .recording, !hasEnd, fault == nil else { return nil }
        return "the recording has no end: its recorder was killed, or still runs; it is whole up to byte \(offset)"
    }

    /// How many bytes were read and are kept, as no item has been made of them yet.
    var keptBytes: Int { stream.keptBytes }

    /// Whether it can be read again from its front.
    public var isSeekable: Bool { lseek(descriptor, 0, SEEK_CUR) >= 0 }

    /// Whether it is what the program has as standard input, under whatever name.
    public var isStandardInput: Bool {
        var own = stat()
        var input = stat()
        guard fstat(descriptor, &own) == 0, fstat(STDIN_FILENO, &input) == 0 else { return path == "-" }
        return own.st_dev == input.st_dev && own.st_ino == input.st_ino
    }

    /// Waits until `descriptor` is readable, or at its end; true then.
    public static func waitUntilReadable(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&entry, 1, -1) < 0, errno == EINTR {}
        return true
    }

    /// The next item; nil at the end of the file and at a `fault`.
    ///
    /// - Throws: where reading fails; `interrupted` where `mayRead` says no: call it again to go on.
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
        guard mayRead(descriptor) else { throw .interrupted(path: path) }
        var code: Int32 = 0
        let piece = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let taken = Glibc.read(descriptor, buffer.baseAddress, count)
            code = taken < 0 ? errno : 0
            filled = max(0, taken)
        }
        // Readable, and then not: another reader was faster.
        if code == EINTR || code == EAGAIN { return try read() }
        if code != 0 { throw RecordingFileError(call: "read", path: path, code: code) }
        if piece.isEmpty {
            isAtEnd = true
            stream.finish()
        }
        return piece
    }
}
