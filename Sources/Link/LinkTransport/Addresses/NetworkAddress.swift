import CLinux
import Glibc

/// An IPv4 or IPv6 address with a port, in the form that socket calls take.
struct NetworkAddress: Sendable, Equatable {
    /// A `sockaddr_in` or `sockaddr_in6`, byte for byte.
    private let bytes: [UInt8]

    init?(_ address: UnsafePointer<sockaddr>?, length: socklen_t) {
        guard let address, length >= socklen_t(MemoryLayout<sockaddr_in>.size) else { return nil }
        let bytes = Array(UnsafeRawBufferPointer(start: address, count: Int(length)))
        let isIPv6 = bytes.prefix(2).elementsEqual(Self.familyBytes(AF_INET6))
        guard isIPv6 || bytes.prefix(2).elementsEqual(Self.familyBytes(AF_INET)) else { return nil }
        guard !isIPv6 || bytes.count >= MemoryLayout<sockaddr_in6>.size else { return nil }
        self.bytes = bytes
    }

    /// The address of a socket's own end or of its peer; nil if it isn't an IP socket.
    init?(
        of descriptor: Int32, _ call: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let address = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> NetworkAddress? in
                guard call(descriptor, pointer, &length) == 0 else { return nil }
                return NetworkAddress(pointer, length: length)
            }
        }
        guard let address else { return nil }
        self = address
    }

    /// Calls getaddrinfo(3), which may take seconds for a name. If `isNumeric` is true, accepts only a numeric address
    /// and returns at once.
    static func resolve(host: String, port: UInt16, isNumeric: Bool) -> Result<[NetworkAddress], SocketError> {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV | (isNumeric ? AI_NUMERICHOST : 0)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, "\(port)", &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard code == 0 else {
            return .failure(
                .nameUnknown(
                    host: host, reason: String(cString: gai_strerror(code)), isTemporary: code == EAI_AGAIN))
        }
        var found: [NetworkAddress] = []
        var entry = list
        while let one = entry {
            if let address = NetworkAddress(one.pointee.ai_addr, length: one.pointee.ai_addrlen) {
                found.append(address)
            }
            entry = one.pointee.ai_next
        }
        return found.isEmpty
            ? .failure(.nameUnknown(host: host, reason: "it has no IP address", isTemporary: false)) : .success(found)
    }

    var isIPv6: Bool { bytes.prefix(2).elementsEqual(Self.familyBytes(AF_INET6)) }

    /// Whether the address is on this machine: 127.0.0.0/8, ::1, or 127.0.0.0/8 as an IPv4-mapped IPv6 address.
    var isLoopback: Bool {
        guard isIPv6 else { return bytes[4] == 127 }
        let address = bytes[8..<24]
        return address.elementsEqual(Self.loopback6)
            || address.starts(with: Self.mapped) && address[20] == 127
    }

    var port: UInt16 { UInt16(bytes[2]) << 8 | UInt16(bytes[3]) }

    /// The numeric address without the port.
    var host: String {
        var text = [CChar](repeating: 0, count: 128)
        let length = socklen_t(text.count)
        let code = withSockaddr { getnameinfo($0, $1, &text, length, nil, 0, NI_NUMERICHOST) }
        return code == 0 ? String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) : "?"
    }

    /// Calls `body` with the address in the form that bind(2) and connect(2) take.
    func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { $0.copyBytes(from: bytes.prefix($0.count)) }
        return withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(bytes.count)) }
        }
    }

    /// A new non-blocking TCP socket for this address, which child processes don't inherit.
    func makeSocket() throws(SocketError) -> FileDescriptor {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        return FileDescriptor(owning: try systemCall("socket") { socket(isIPv6 ? AF_INET6 : AF_INET, type, 0) })
    }

    private static let loopback6 = [UInt8](repeating: 0, count: 15) + [1]
    /// The prefix of an IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2).
    private static let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

    private static func familyBytes(_ family: Int32) -> [UInt8] {
        withUnsafeBytes(of: sa_family_t(family)) { Array($0) }
    }
}

/// The numeric addresses of a host, without ports; at least one. May block for seconds, because getaddrinfo(3) has no
/// timeout.
///
/// - Throws: ``SocketError/nameUnknown(host:reason:isTemporary:)``.
public func numericAddresses(of host: String) throws(SocketError) -> [String] {
    try NetworkAddress.resolve(host: host, port: 0, isNumeric: false).get().map(\.host)
}
