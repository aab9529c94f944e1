public import Glibc

/// The transport for which a free port is wanted.
public enum PortKind: Sendable {
    case udp, tcp
}

/// A port of 127.0.0.1 that nothing is bound to at the moment.
public func freePort(_ kind: PortKind) throws -> UInt16 {
    let type = kind == .udp ? SOCK_DGRAM : SOCK_STREAM
    let descriptor = socket(AF_INET, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw FileError(path: "socket", errno: errno) }
    defer { close(descriptor) }
    return try bindToLoopback(descriptor)
}

/// Whether this machine has the IPv6 loopback.
public let hasIPv6: Bool = {
    let descriptor = socket(AF_INET6, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_addr = in6addr_loopback
    return withUnsafePointer(to: address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size)) == 0
        }
    }
}()

/// Binds an IPv4 socket to a port of 127.0.0.1 that nothing else is bound to, and returns the port.
public func bindToLoopback(_ descriptor: Int32) throws -> UInt16 {
    var address = loopbackAddress(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
        }
    }
    guard result == 0 else { throw FileError(path: "127.0.0.1", errno: errno) }
    return UInt16(bigEndian: address.sin_port)
}

/// The address of a port of 127.0.0.1.
public func loopbackAddress(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
}

/// The path of one of the package's programs, built beside the test bundle that runs now; nil if it isn't built.
public func builtProgram(_ name: String) -> String? {
    // The bundle is loaded by a program of the toolchain, or is the program itself: its mapping shows the folder.
    guard let maps = try? fileBytes("/proc/self/maps") else { return nil }
    for line in maps.split(separator: UInt8(ascii: "\n")) {
        guard let start = line.firstIndex(of: UInt8(ascii: "/")) else { continue }
        let mapped = String(decoding: line[start...], as: UTF8.self)
        guard mapped.hasSuffix(".xctest"), let slash = mapped.lastIndex(of: "/") else { continue }
        let candidate = mapped[..<slash] + "/" + name
        if access(String(candidate), X_OK) == 0 { return String(candidate) }
    }
    return nil
}
