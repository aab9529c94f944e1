import Glibc
import TestSupport

/// Counts what this process holds of one screen's server. Other tests hold things of other servers meanwhile.
final class ServerHoldings {
    struct Count: Equatable {
        /// Connections to the server.
        var connections = 0
        /// Descriptors of memory that was shared with it.
        var descriptors = 0
        /// Mappings of that memory.
        var mappings = 0
    }

    private static let segmentName = "/memfd:screenrelay-picture"

    private let server: Int32
    // All that the server was ever seen to share: what it has let go of may still be held here.
    private var segments: Set<UInt64> = []

    init(of screen: VirtualScreen) {
        server = screen.processID
    }

    /// Notes which memory the server shares now.
    func noteSegments() throws {
        segments.formUnion(try mappedInodes(of: server, named: Self.segmentName))
    }

    /// What this process holds now.
    func count() throws -> Count {
        var count = Count()
        for descriptor in openDescriptors() {
            if peer(of: descriptor) == server { count.connections += 1 }
            if isSegment(descriptor) { count.descriptors += 1 }
        }
        let mapped = try mappedInodes(of: getpid(), named: Self.segmentName)
        count.mappings = mapped.count { segments.contains($0) }
        return count
    }

    /// The process at the other end of a Unix socket; nil for everything else.
    private func peer(of descriptor: Int32) -> Int32? {
        // struct ucred of unix(7), which Glibc's module leaves out: process, user, group.
        var credentials: [Int32] = [0, 0, 0]
        var length = socklen_t(12)
        let result = getsockopt(descriptor, SOL_SOCKET, 17 /* SO_PEERCRED */, &credentials, &length)
        return result == 0 ? credentials[0] : nil
    }

    private func isSegment(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0, segments.contains(UInt64(status.st_ino)) else { return false }
        // Other kinds of files have inodes of their own with the same numbers.
        var buffer = [CChar](repeating: 0, count: 64)
        let count = readlink("/proc/self/fd/\(descriptor)", &buffer, buffer.count)
        let target = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return target.hasPrefix(Self.segmentName)
    }

    private func openDescriptors() -> [Int32] {
        guard let folder = opendir("/proc/self/fd") else { return [] }
        defer { closedir(folder) }
        var found: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let number = Int32(name) { found.append(number) }
        }
        return found
    }
}

/// The inodes of what a process has mapped under a name that begins so, one for each mapping; a System V segment's is
/// its identifier (proc(5), /proc/PID/maps).
func mappedInodes(of process: Int32, named prefix: String) throws -> [UInt64] {
    let lines = String(decoding: try fileBytes("/proc/\(process)/maps"), as: UTF8.self).split(separator: "\n")
    return lines.compactMap { line in
        // address permissions offset device inode name
        let fields = line.split(separator: " ")
        guard fields.count > 5, fields[5].hasPrefix(prefix) else { return nil }
        return UInt64(fields[4])
    }
}
