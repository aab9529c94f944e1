import Glibc
import MediaTypes
import TestSupport
import Testing

@testable import LinkTransport

@Suite("dialling a name with several addresses")
struct LinkDialTests {
    private func addresses(_ hosts: [String], port: UInt16) throws -> [NetworkAddress] {
        try hosts.flatMap { try NetworkAddress.resolve(host: $0, port: port, isNumeric: true).get() }
    }

    private func port(of listener: SocketListener) throws -> UInt16 {
        guard case .tcp(_, let port) = listener.address else { throw Unexpected() }
        return port
    }

    private struct Unexpected: Error {}

    /// Dials without a token until there is a connection, or will be none.
    private func connect(
        to name: LinkAddress, _ found: [NetworkAddress]
    ) throws(SocketError) -> SocketConnection {
        let dial = try LinkDial(to: name, found: found, token: nil)
        while true {
            if let connection = try dial.advance() { return connection }
            var waiting = pollfd(fd: dial.descriptor, events: dial.events, revents: 0)
            poll(&waiting, 1, 100)
        }
    }

    @Test("without a token those of other machines are passed over, and wanted only where there is no other")
    func others() throws {
        let listener = try SocketListener(at: .tcp(host: "127.0.0.1", port: 0))
        let port = try port(of: listener)
        let name = LinkAddress.tcp(host: "desk", port: port)
        // What a Debian machine with a line of its own in /etc/hosts has.
        let found = try addresses(["192.0.2.7", "127.0.0.1", "192.0.2.8"], port: port)
        let connection = try connect(to: name, found)
        #expect(connection.remote == "127.0.0.1")
        connection.close()
        listener.close()
        // Nobody there yet: worth another try, whatever comes behind. A moment later where a child that is just being
        // started has a copy of the socket.
        let waiting = try eventually("nobody there") {
            failure { () throws(SocketError) in try connect(to: name, found) }
        }
        #expect(waiting == .unreachable(address: "\(name)", code: ECONNREFUSED))
        #expect(waiting.isRetryable)
        let elsewhere = Array(found.filter { !$0.isLoopback })
        let refused = failure { () throws(SocketError) in
            try connect(to: name, elsewhere)
        }
        #expect(refused == .tokenRequired(address: "\(name)"))
    }

    @Test("one that this system has no sockets for is passed over")
    func withoutIPv6() throws {
        let listener = try SocketListener(at: .tcp(host: "127.0.0.1", port: 0))
        let port = try port(of: listener)
        let name = LinkAddress.tcp(host: "desk", port: port)
        let (six, four) = (try addresses(["::1"], port: port), try addresses(["127.0.0.1"], port: port))
        // Not by a setting of the machine: by what a thread of its own is allowed.
        let results = onThread { () -> [Result<String?, SocketError>] in
            guard refuseIPv6() else { return [] }
            return [six + four, four + six, six].map { found in
                Result { () throws(SocketError) in
                    try connect(to: name, found).remote
                }
            }
        }
        // A machine that lets nobody make a filter.
        guard let results, !results.isEmpty else { return }
        #expect(
            results == [
                .success("127.0.0.1"), .success("127.0.0.1"),
                .failure(.unreachable(address: "\(name)", code: EAFNOSUPPORT)),
            ])
        listener.close()
        try eventually(
            "nobody there", holds: { failure { () throws(SocketError) in try connect(to: name, four) } != nil })
        let closed = onThread { () -> SocketError? in
            guard refuseIPv6() else { return nil }
            return failure { () throws(SocketError) in
                try connect(to: name, four + six)
            }
        }
        #expect(closed == .some(.unreachable(address: "\(name)", code: ECONNREFUSED)))
    }
}

private final class Work {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
}

/// Runs `body` on a thread that ends with it.
private func onThread<Value>(_ body: @escaping () -> Value) -> Value? {
    var value: Value?
    let work = Unmanaged.passRetained(Work { value = body() })
    var thread = pthread_t()
    let code = pthread_create(
        &thread, nil,
        { argument in
            if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
            return nil
        }, work.toOpaque())
    if code == 0 { pthread_join(thread, nil) } else { work.release() }
    return value
}

/// From now on socket(2) for IPv6 fails on this thread as where the kernel has none (seccomp(2)); false where that
/// can't be had.
private func refuseIPv6() -> Bool {
    #if arch(x86_64)
        let socketCall: UInt32 = 41
    #else
        let socketCall: UInt32 = 198
    #endif
    // struct sock_filter: code, jumps where true and where false, operand.
    let filter: [(UInt16, UInt8, UInt8, UInt32)] = [
        (0x20, 0, 0, 0),
        (0x15, 0, 3, socketCall),
        (0x20, 0, 0, 16),
        (0x15, 0, 1, UInt32(AF_INET6)),
        (0x06, 0, 0, 0x0005_0000 | UInt32(EAFNOSUPPORT)),
        (0x06, 0, 0, 0x7FFF_0000),
    ]
    typealias Control = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
    guard let symbol = dlsym(nil, "prctl") else { return false }
    let control = unsafeBitCast(symbol, to: Control.self)
    let size = 8
    let code = UnsafeMutableRawPointer.allocate(byteCount: filter.count * size, alignment: 8)
    let program = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 8)
    defer {
        code.deallocate()
        program.deallocate()
    }
    for (index, line) in filter.enumerated() {
        code.storeBytes(of: line.0, toByteOffset: index * size, as: UInt16.self)
        code.storeBytes(of: line.1, toByteOffset: index * size + 2, as: UInt8.self)
        code.storeBytes(of: line.2, toByteOffset: index * size + 3, as: UInt8.self)
        code.storeBytes(of: line.3, toByteOffset: index * size + 4, as: UInt32.self)
    }
    program.storeBytes(of: UInt16(filter.count), as: UInt16.self)
    program.storeBytes(of: code, toByteOffset: 8, as: UnsafeMutableRawPointer.self)
    // PR_SET_NO_NEW_PRIVS, without which only root may; PR_SET_SECCOMP with SECCOMP_MODE_FILTER.
    return control(38, 1, 0, 0, 0) == 0 && control(22, 2, UInt(bitPattern: program), 0, 0) == 0
}
