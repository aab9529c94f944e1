import Glibc
import STUN

/// A UDP port of loopback that stands for one address of a server's: what the media port sends to it is relayed
/// to there, through a TURN server or over TCP. Non-blocking.
final class RelayPort {
    let descriptor: Int32
    let number: UInt16
    /// The user name fragment of the session. Only its checks show who may use the port; it is random.
    private let ufrag: String
    private var isClaimed = false

    /// How much may wait for the relay, in bytes: what doesn't fit is lost, as on any full path.
    private static let room: Int32 = 64 << 10

    /// Nil if the system has no socket left.
    init?(of ufrag: String) {
        let descriptor = socket(
            AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var room = Self.room
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        self.descriptor = descriptor
        self.ufrag = ufrag
        number = UInt16(bigEndian: address.sin_port)
        guard descriptor >= 0, isBound else { return nil }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Takes the next datagram of the session; nil if there is none now. What others send is dropped.
    func receive(into buffer: inout [UInt8]) -> ArraySlice<UInt8>? {
        while true {
            var from = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let count = withUnsafeMutablePointer(to: &from) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { source in
                    buffer.withUnsafeMutableBytes { recvfrom(descriptor, $0.baseAddress, $0.count, 0, source, &length) }
                }
            }
            // The error may belong to an earlier datagram.
            if count < 0 {
                if errno == EAGAIN { return nil }
                if errno == EINTR || errno == ECONNREFUSED { continue }
                return nil
            }
            let datagram = buffer[..<count]
            if isClaimed { return datagram }
            guard let check = try? STUNMessage(parsing: Array(datagram)), check.username?.hasSuffix(":" + ufrag) == true
            else { continue }
            isClaimed = withUnsafePointer(to: &from) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) == 0 }
            }
            if isClaimed { return datagram }
        }
    }

    /// Gives the session a datagram that the server sent.
    func send(_ datagram: ArraySlice<UInt8>) {
        guard isClaimed else { return }
        _ = datagram.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    /// The port as a candidate of the server's, behind all that it has named.
    func candidate(_ index: Int) -> String {
        "candidate:relay\(index) 1 udp \(1000 - index) 127.0.0.1 \(number) typ relay"
    }

    /// The port as a candidate that is reached over TCP, before all that a TURN server relays to.
    func tcpCandidate(_ index: Int) -> String {
        "candidate:tcp\(index) 1 udp \(2000 - index) 127.0.0.1 \(number) typ host"
    }
}
