import Glibc

/// A file on a disk that hangs: a named pipe that takes 64 KiB and then nothing, until the test reads from it.
public final class StalledFile {
    /// Where to write.
    public let path: String
    /// The end to read from; reading waits for nothing. Ours to close.
    public let reader: Int32
    /// What `read` has taken so far.
    public private(set) var bytes: [UInt8] = []

    private let folder: TemporaryFolder
    private var isOpen = true

    /// Makes it, in a folder of its own.
    public init() throws {
        folder = try TemporaryFolder()
        path = folder.file("pipe")
        guard mkfifo(path, 0o600) == 0 else { throw FileError(path: path, errno: errno) }
        reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard reader >= 0 else { throw FileError(path: path, errno: errno) }
    }

    deinit { close() }

    /// Takes what has been written by now; true where the writer has closed its end and all is taken.
    @discardableResult
    public func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(reader, &buffer, buffer.count)
            guard count > 0 else { return count == 0 }
            bytes += buffer[..<count]
        }
    }

    /// Who writes from now on is told that nobody will ever read it.
    public func close() {
        if isOpen { Glibc.close(reader) }
        isOpen = false
    }
}
