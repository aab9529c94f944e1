import Glibc
import MediaTypes
public import Recording

/// A recording that is being written. Records reach the file whole, or are taken out of it again; nothing is ever synced to
/// the disk, so that writing costs what copying into the page cache costs.
///
/// One thread at a time. Closes the file when it goes.
public struct RecordingFile: ~Copyable, Sendable {
    /// Where it is.
    public let path: String
    /// What stands at its front.
    public let header: RecordingHeader
    /// How many bytes of whole records the file has, its header included.
    public private(set) var written: UInt64
    /// How many bytes the file may have at most; nil where nobody has set a limit.
    let sizeLimit: UInt64?
    private let descriptor: OpenDescriptor
    /// Whether there was none of that name before.
    private let isNew: Bool

    /// Creates the file, for our user alone (0600), and writes its header. Where that fails, none is left behind.
    ///
    /// - Parameters:
    ///   - overwriting: whether a file that is there may be lost; otherwise that is an error.
    ///   - header: what stands at its front; by default the time that it is now.
    ///   - sizeLimit: how many bytes a ``RecordingQueue`` may make of it; nil for any number.
    public init(
        creating path: String, overwriting: Bool = false, header: RecordingHeader? = nil, sizeLimit: UInt64? = nil
    ) throws(RecordingFileError) {
        let header = header ?? RecordingHeader(start: Self.now(), wallClock: Self.wallClock())
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (overwriting ? O_TRUNC : O_EXCL)
        let opened = OpenDescriptor(number: try Self.create(path, flags))
        var done = 0
        do throws(RecordingFileError) {
            try Self.writeAll(opened.number, path, header.bytes[...], &done)
        } catch {
            if !overwriting { _ = opened.remove(path) }
            throw error
        }
        descriptor = opened
        isNew = !overwriting
        self.sizeLimit = sizeLimit
        self.path = path
        self.header = header
        written = UInt64(done)
    }

    /// What is missing where a file is made is its folder.
    private static func create(_ path: String, _ flags: Int32) throws(RecordingFileError) -> Int32 {
        do throws(RecordingFileError) {
            return try systemCall("open", path) { open(path, flags, 0o600) }
        } catch {
            guard case .missing = error, let slash = path.lastIndex(of: "/") else { throw error }
            throw .folderMissing(path: path, folder: slash == path.startIndex ? "/" : String(path[..<slash]))
        }
    }

    /// Writes whole records: `records`, and one more (or the rest of the last one) in `rest`.
    ///
    /// - Parameter ends: where records end in `records`, in order; what lies before the last end that was reached stays in
    ///   the file when writing fails.
    /// - Throws: where they don't fit or the disk fails. The file ends then with a whole record; don't write more.
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
            // Where that isn't possible the file ends inside a record: a reader names the place.
            _ = ftruncate(number, Int(clamping: written))
            throw error.after(written)
        }
        written &+= UInt64(done)
    }

    /// Removes the file where it did not replace another one, and still has its name; says whether it did.
    func removeIfNew() -> Bool { isNew && descriptor.remove(path) }

    private static func writeAll(
        _ number: Int32, _ path: String, _ bytes: ArraySlice<UInt8>, _ done: inout Int
    ) throws(RecordingFileError) {
        var rest = bytes
        while !rest.isEmpty {
            let slice = rest
            let count = try systemCall("write", path) {
                slice.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
            }
            rest = rest.dropFirst(count)
            done += count
        }
    }

    /// CLOCK_MONOTONIC now.
    static func now() -> MonotonicTime { MonotonicTime(nanoseconds: time(CLOCK_MONOTONIC)) }

    /// CLOCK_REALTIME now, in nanoseconds since 1970.
    static func wallClock() -> Int64 { time(CLOCK_REALTIME) }

    private static func time(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// A descriptor that is closed when its owner goes.
private struct OpenDescriptor: ~Copyable {
    let number: Int32

    init(number: Int32) {
        self.number = number
    }

    /// Removes the file that it is open on, where that is still the one at `path`.
    func remove(_ path: String) -> Bool {
        var (ours, theirs) = (stat(), stat())
        guard fstat(number, &ours) == 0, lstat(path, &theirs) == 0, ours.st_dev == theirs.st_dev,
            ours.st_ino == theirs.st_ino
        else { return false }
        return unlink(path) == 0
    }

    deinit {
        // Not repeated after EINTR: on Linux the number is free even then.
        Glibc.close(number)
    }
}
