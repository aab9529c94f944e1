import Glibc
import Synchronization

/// The TCP socket of one of libavformat's connections, which hands out none: found by a size of its receive buffer that
/// no other connection of this process has.
///
/// libavformat's RTMP writes each chunk of a frame, and each byte between two chunks, by a call of its own. Corked,
/// they leave in full segments, and the last one as soon as the frame is complete. Without that, Nagle's algorithm
/// sends the first piece of a frame alone, and keeps a short last one until the peer has acknowledged.
struct CorkedSocket {
    private let descriptor: Int32

    /// Servers of RTMP send next to nothing.
    private static let leastBuffer: Int32 = 32 << 10
    private static let count: Int32 = 4096
    private static let next = Atomic<Int32>(0)

    /// A size for the next connection's receive buffer.
    static func uniqueBuffer() -> Int32 {
        leastBuffer + next.wrappingAdd(1, ordering: .relaxed).oldValue % count * 2
    }

    /// Finds the socket whose receive buffer was set to `size`; nil if there is none, or more than one.
    init?(receiveBuffer size: Int32) {
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var found: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            // The kernel doubles what was set (socket(7)).
            guard let candidate = Int32(name), Self.option(SO_PROTOCOL, of: candidate) == Int32(IPPROTO_TCP),
                Self.option(SO_RCVBUF, of: candidate) == size * 2
            else { continue }
            found.append(candidate)
        }
        guard found.count == 1 else { return nil }
        descriptor = found[0]
    }

    /// Holds back segments that aren't full while `isCorked`, and sends what is held back at its end.
    func setCorked(_ isCorked: Bool) {
        var value: Int32 = isCorked ? 1 : 0
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_CORK, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }
}

extension CorkedSocket {
    /// The number of segments with data that have been sent (`tcpi_data_segs_out` of linux/tcp.h, which the C library's
    /// header lacks).
    var sentSegments: UInt32? {
        var facts = [UInt8](repeating: 0, count: 256)
        var length = socklen_t(facts.count)
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &facts, &length) == 0, length >= 160 else {
            return nil
        }
        return facts.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 156, as: UInt32.self) }
    }
}
