import Glibc

/// A file on a disk that hangs: a named pipe that takes 64 KiB and then nothing until the test reads from it.
public final class StalledFile {
    /// The path to write to.
    public let path: String
    /// The end to read from, which never blocks. This object closes it.
    public let reader: Int32
    /// What `read` has read so far.
    public private(set) var bytes: [UInt8] = []

    private let folder: TemporaryFolder
    private var isOpen = true

    /// Makes the pipe, in a folder of its own.
    public init() throws {
        folder = try TemporaryFolder()
        path = folder.file("pipe")
        guard mkfifo(path, 0o600) == 0 else { throw FileError(path: path, errno: errno) }
        reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard reader >= 0 else { throw FileError(path: path, errno: errno) }
    }

    deinit { close() }

    /// Reads what has been written by now. Returns true if the writer has closed its end and everything has been read.
    @discardableResult
    public func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(reader, &buffer, buffer.count)
            guard count > 0 else { return count == 0 }
            bytes += buffer[..<count]
        }
    }

    /// Closes the reading end, so that a writer is told from now on that nobody will ever read.
    public func close() {
        if isOpen { Glibc.close(reader) }
        isOpen = false
    }
}
