import Glibc

/// An advisory lock on a folder (flock(2)), for the moment in which processes that start at once would disturb each
/// other. If the folder can't be opened for reading, or its file system has no locks, there is none.
public struct FolderLock: Sendable {
    /// The lock is needed only for a moment each time. But any process that can read the folder can hold it forever, so
    /// the wait is limited.
    private static let attempts = 50
    private static let pause: UInt32 = 20_000

    private let number: Int32

    /// Waits for the lock, for a second at most.
    ///
    /// - Throws: `folderLocked` if another process keeps it.
    public init(folder: String) throws(SocketError) {
        let number = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        self.number = number
        if number < 0 { return }
        for _ in 0..<Self.attempts {
            let (_, code) = retryingInterrupted { flock(number, LOCK_EX | LOCK_NB) }
            // Any other error means that the file system has no locks.
            if code != EWOULDBLOCK { return }
            usleep(Self.pause)
        }
        Glibc.close(number)
        throw .folderLocked(folder: folder)
    }

    /// Releases the lock. Call it once.
    public func release() {
        if number >= 0 { Glibc.close(number) }
    }
}
