import Glibc

/// A disk of a few kilobytes, in memory, for one test; it is unmounted when it is released.
public final class SmallDisk {
    /// Whether this process may mount one: it has to be root, and not confined.
    public static let isAvailable: Bool = (try? SmallDisk(kilobytes: 64)) != nil

    private struct CannotMount: Error {}

    private let folder: TemporaryFolder
    /// Where it is mounted.
    public var path: String { folder.path }

    /// Mounts it.
    public init(kilobytes: Int) throws {
        folder = try TemporaryFolder()
        guard mount("tmpfs", folder.path, "tmpfs", UInt(MS_NOSUID | MS_NODEV), "size=\(kilobytes)k") == 0 else {
            throw CannotMount()
        }
    }

    deinit {
        umount2(folder.path, Int32(MNT_DETACH))
    }
}
