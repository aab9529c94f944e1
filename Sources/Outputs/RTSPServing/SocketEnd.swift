import CLinux
import Glibc
import STUN

/// One end of a connected TCP socket.
struct SocketEnd {
    enum Side {
        case local, remote
    }

    let address: TransportAddress

    /// Nil if the socket isn't connected any more.
    init?(of descriptor: Int32, _ side: Side) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let bytes = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                side == .local ? getsockname(descriptor, pointer, &length) : getpeername(descriptor, pointer, &length)
            }
        }
        guard bytes == 0 else { return nil }
        let found = withUnsafeBytes(of: storage) { bytes -> TransportAddress? in
            let port = UInt16(bytes[2]) << 8 | UInt16(bytes[3])
            switch Int32(storage.ss_family) {
            case AF_INET: return TransportAddress(bytes: bytes[4..<8], port: port)
            case AF_INET6:
                let scope = bytes.loadUnaligned(fromByteOffset: 24, as: UInt32.self)
                return TransportAddress(bytes: bytes[8..<24], port: port, scope: scope)?.unmapped
            default: return nil
            }
        }
        guard let found else { return nil }
        address = found
    }

    /// Makes the kernel accept little more than the peer has room for, so that a slow player isn't sent seconds of old
    /// pictures.
    static func keepLittleUnsent(_ descriptor: Int32) {
        var value: Int32 = 128 << 10
        setsockopt(
            descriptor, Int32(IPPROTO_TCP), shim_TCP_NOTSENT_LOWAT, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

extension TransportAddress {
    /// An address as it is listened on, at port 0; nil if it isn't a numeric one or `localhost`.
    init?(numeric text: String) {
        let text = text == "localhost" ? "127.0.0.1" : text
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 {
            self.init(bytes: bytes.prefix(4), port: 0)
        } else if inet_pton(AF_INET6, text, &bytes) == 1 {
            self.init(bytes: bytes, port: 0)
        } else {
            return nil
        }
    }

    /// The same machine at another port.
    func with(port: UInt16) -> TransportAddress {
        TransportAddress(family: family, high: high, low: low, port: port, scope: scope)
    }
}
