import Clocks
import Glibc
import MediaTypes
public import Recording

/// A recording that is being written.
///
/// Records are written completely or removed again. Nothing is synced to the disk, so writing costs only a copy into
/// the page cache. Use it from one thread at a time. Closes the file when it is released.
public struct RecordingFile: ~Copyable, Sendable {
    /// The path of the file.
    public let path: String
    /// The header at the front of the file.
    public let header: RecordingHeader
    /// The number of bytes of complete records in the file, including the header.
    public private(set) var written: UInt64
    /// What the file takes its bytes from; nil for no limit.
    let budget: RecordingBudget?
    private let descriptor: OpenDescriptor
    /// Whether no file with that name existed before.
    private let isNew: Bool

    /// Creates the file, accessible only to the current user (0600), and writes its header. If that fails, no new file
    /// is left behind.
    ///
    /// - Parameters:
    ///   - overwriting: Whether an existing file may be overwritten; if false, an existing file is an error.
    ///   - header: The header to write; by default one with the current time.
    ///   - sizeLimit: The size in bytes up to which a ``RecordingQueue`` may let the file grow; nil for no limit.
    /// - Throws: ``RecordingFileError``: `exists`, `folderMissing`, `permissionDenied`, `isFolder`, `diskFull` or
    ///   `system`.
    public init(
        creating path: String, overwriting: Bool = false, header: RecordingHeader? = nil, sizeLimit: UInt64? = nil
    ) throws(RecordingFileError) {
        let budget = sizeLimit.map { RecordingBudget(limit: $0) }
        try self.init(creating: path, overwriting: overwriting, header: header, budget: budget)
    }

    /// Creates a file like the initializer above, which shares the limit of `budget` with other files.
    ///
    /// - Throws: also `limitReached`, and creates no file, if the budget has no room for one without records.
    public init(
        creating path: String, overwriting: Bool = false, header: RecordingHeader? = nil, budget: RecordingBudget?
    ) throws(RecordingFileError) {
        let header = header ?? RecordingHeader(start: MonotonicTime.now(), wallClock: Self.wallClock())
        let share = Self.share(header)
        if let budget, !budget.take(share) { throw .limitReached(path: path, limit: budget.limit) }
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (overwriting ? O_TRUNC : O_EXCL)
        let number: Int32
        do throws(RecordingFileError) {
            number = try Self.create(path, flags)
        } catch {
            budget?.giveBack(share)
            throw error
        }
        let opened = OpenDescriptor(number: number)
        var done = 0
        do throws(RecordingFileError) {
            try Self.writeAll(opened.number, path, header.bytes[...], &done)
        } catch {
            budget?.giveBack(share)
            if !overwriting { _ = opened.remove(path) }
            throw error
        }
        descriptor = opened
        isNew = !overwriting
        self.budget = budget
        self.path = path
        self.header = header
        written = UInt64(done)
    }

    /// Opens the file. If a new file's path is missing, the error names the missing folder.
    private static func create(_ path: String, _ flags: Int32) throws(RecordingFileError) -> Int32 {
        do throws(RecordingFileError) {
            return try fileCall("open", path) { open(path, flags, 0o600) }
        } catch {
            guard case .missing = error, let slash = path.lastIndex(of: "/") else { throw error }
            throw .folderMissing(path: path, folder: slash == path.startIndex ? "/" : String(path[..<slash]))
        }
    }

    /// Writes complete records: `records`, followed by one more record (or the rest of the last one) in `rest`.
    ///
    /// - Parameter ends: The ends of the records in `records`, in order. If writing fails, the file keeps everything
    ///   before the last end that was reached.
    /// - Throws: ``RecordingFileError`` if the records don't fit or the disk fails. The file then ends with a complete
    ///   record; don't write more.
    public mutating func write(
        _ records: ArraySlice<UInt8>, ends: [Int] = [], rest: ArraySlice<UInt8> = []
    ) throws(RecordingFileError) {
        var done = 0
        let number = descriptor.number
        do throws(RecordingFileError) {
            try Self.writeAll(number, path, records, &done)
            try Self.writeAll(number, path, rest, &done)
        } catch {
            written &+= UInt64(ends.last { $0 <= done } ?? 0)
            // If truncating fails, the file ends inside a record, and a reader will report the place.
            _ = ftruncate(number, Int(clamping: written))
            throw error.after(written)
        }
        written &+= UInt64(done)
    }

    /// The bytes that a file without records has taken from its budget: its header and the end record.
    static func share(_ header: RecordingHeader) -> UInt64 {
        UInt64(header.bytes.count + RecordingWriter.recordHeaderCount)
    }

    /// Removes the file if it didn't replace another one and still has its name. Returns whether it did.
    func removeIfNew() -> Bool { isNew && descriptor.remove(path) }

    private static func writeAll(
        _ number: Int32, _ path: String, _ bytes: ArraySlice<UInt8>, _ done: inout Int
    ) throws(RecordingFileError) {
        var rest = bytes
        while !rest.isEmpty {
            let slice = rest
            let count = try fileCall("write", path) {
                slice.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
            }
            rest = rest.dropFirst(count)
            done += count
        }
    }

    /// The current time of CLOCK_REALTIME, in nanoseconds since 1970.
    static func wallClock() -> Int64 { time(CLOCK_REALTIME) }

    private static func time(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// A file descriptor that is closed when its owner is released.
private struct OpenDescriptor: ~Copyable {
    let number: Int32

    /// Removes the open file if it is still the one at `path`.
    func remove(_ path: String) -> Bool {
        var (ours, theirs) = (stat(), stat())
        guard fstat(number, &ours) == 0, lstat(path, &theirs) == 0, ours.st_dev == theirs.st_dev,
            ours.st_ino == theirs.st_ino
        else { return false }
        return unlink(path) == 0
    }

    deinit {
        // Not repeated after EINTR, because on Linux the descriptor is released even then.
        Glibc.close(number)
    }
}
