public import Glibc
import Synchronization

/// The port to try next. They lie below 32768, where the kernel's own choice begins, so that it gives none of them to
/// another test. Processes of tests that run beside each other begin at ports of their own (`Tools/suites.py`).
private let nextPort = Mutex<UInt16>(
    getenv("SCREENRELAY_FIRST_PORT").flatMap { UInt16(String(cString: $0)) } ?? .random(in: 10_000..<20_000))

private func takeNextPort() -> UInt16 {
    nextPort.withLock { next in
        next += 1
        return next
    }
}

/// A port of 127.0.0.1 to which nothing is bound at the moment, for UDP and TCP. Each call returns another one.
public func freePort() throws -> UInt16 {
    for _ in 0..<1000 {
        let port = takeNextPort()
        if try isFree(port, SOCK_DGRAM), try isFree(port, SOCK_STREAM) { return port }
    }
    throw FileError(path: "127.0.0.1", errno: EADDRINUSE)
}

private func isFree(_ port: UInt16, _ type: __socket_type) throws -> Bool {
    let descriptor = socket(AF_INET, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw FileError(path: "socket", errno: errno) }
    defer { close(descriptor) }
    return bindToLoopback(descriptor, port) == 0
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

/// Binds an IPv4 socket to a port of 127.0.0.1 that ``freePort()`` doesn't return, and returns it.
public func bindToLoopback(_ descriptor: Int32) throws -> UInt16 {
    for _ in 0..<1000 {
        let port = takeNextPort()
        if bindToLoopback(descriptor, port) == 0 { return port }
    }
    throw FileError(path: "127.0.0.1", errno: errno)
}

private func bindToLoopback(_ descriptor: Int32, _ port: UInt16) -> Int32 {
    withUnsafePointer(to: loopbackAddress(port: port)) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}

/// The address of a port of 127.0.0.1.
public func loopbackAddress(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
}

/// The nice value of the calling thread: field 19 of its statistics (proc_pid_stat(5)). Nil if they lack it.
public func niceValueOfThisThread() throws -> Int? {
    // The thread's name, in parentheses, may contain anything. The third field comes first behind it.
    let text = String(decoding: try fileBytes("/proc/thread-self/stat"), as: UTF8.self)
    let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
    return fields.count > 16 ? Int(fields[16]) : nil
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
