/// An immutable picture file, shared by all responses that send it.
///
/// The `Sendable` conformance is unchecked: the bytes don't change between `init` and `deinit`.
public final class SnapshotFile: @unchecked Sendable {
    private let storage: UnsafeMutableRawBufferPointer

    /// Creates a file with a copy of `bytes`.
    public init(_ bytes: [UInt8]) {
        storage = .allocate(byteCount: max(1, bytes.count), alignment: 16)
        storage.copyBytes(from: bytes)
        count = bytes.count
    }

    deinit {
        storage.deallocate()
    }

    /// The size in bytes.
    public let count: Int

    /// The start of the bytes, valid for as long as the file is kept.
    var start: UnsafeRawPointer? { UnsafeRawPointer(storage.baseAddress) }
}

/// Counts the bytes of snapshots that clients haven't read. A file with several readers counts once. It belongs to the
/// site's thread.
final class UnreadSnapshots {
    private(set) var byteCount = 0
    private var readers: [ObjectIdentifier: Int] = [:]

    fileprivate func add(_ file: SnapshotFile) {
        let key = ObjectIdentifier(file)
        if readers[key] == nil { byteCount += file.count }
        readers[key, default: 0] += 1
    }

    fileprivate func remove(_ file: SnapshotFile) {
        let key = ObjectIdentifier(file)
        readers[key] = readers[key].flatMap { $0 > 1 ? $0 - 1 : nil }
        if readers[key] == nil { byteCount -= file.count }
    }
}

/// A file on its way to one client. It lives until the response has been read or dropped.
final class UnreadSnapshot {
    let file: SnapshotFile
    private let account: UnreadSnapshots

    init(_ file: SnapshotFile, _ account: UnreadSnapshots) {
        self.file = file
        self.account = account
        account.add(file)
    }

    deinit {
        account.remove(file)
    }
}
