import Glibc
import LinkTransport
import TestSupport
import Testing

@Suite("listening with a socket that another process has bound")
struct PassedListenerTests {
    private let token = LinkToken(Array("a token of some length".utf8))

    /// A copy of the descriptor of `listener`, as a child would have it.
    private func copy(of listener: SocketListener) throws -> Int32 {
        let number = dup(listener.descriptor)
        try #require(number >= 0)
        return number
    }

    @Test("accepts connections to its port, which has its own address")
    func port() throws {
        let binding = try SocketListener(at: .tcp(host: "127.0.0.1", port: 0))
        let number = try copy(of: binding)
        #expect(LinkAddress.descriptor(number).isOverTCP)
        let network = try #require(PassedListener(number)?.network)
        #expect(LinkAddress.tcp(host: network.host, port: network.port) == binding.address)
        let listener = try SocketListener(at: .descriptor(number))
        #expect(listener.address == binding.address)
        let client = try SocketConnection.connect(to: listener.address)
        let server = try eventually("the connection") { try listener.accept() }
        try client.enqueue(header: [1])
        var buffer = [UInt8](repeating: 0, count: 16)
        #expect(try server.received(into: &buffer) == .bytes(1))
        #expect(fcntl(listener.descriptor, F_GETFD) & FD_CLOEXEC != 0)
    }

    @Test("encrypts if there is a token, and needs one where other machines can connect")
    func encrypted() throws {
        let binding = try SocketListener(at: .tcp(host: "127.0.0.1", port: 0))
        let listener = try SocketListener(at: .descriptor(copy(of: binding)), token: token)
        guard case .tcp(let host, let port) = binding.address else { return }
        #expect(listener.address == .tls(host: host, port: port))

        let wide = try SocketListener(at: .tcp(host: "0.0.0.0", port: 0), hasToken: true)
        let number = try copy(of: wide)
        let error = failure { () throws(SocketError) in
            try SocketListener(at: .descriptor(number), token: nil)
        }
        #expect(error == .tokenRequired(address: "\(wide.address)"))
    }

    @Test("leaves the file of a Unix socket to the process that has made it")
    func file() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("link.sock")
        let binding = try SocketListener(path: path)
        let number = try copy(of: binding)
        #expect(!LinkAddress.descriptor(number).isOverTCP)
        let listener = try SocketListener(at: .descriptor(number), token: token)
        #expect(listener.address == .descriptor(number))
        let client = try SocketConnection.connect(to: .unix(path: path))
        let server = try eventually("the connection") { try listener.accept() }
        try server.enqueue(header: [9])
        var buffer = [UInt8](repeating: 0, count: 16)
        #expect(try client.received(into: &buffer) == .bytes(1))
        listener.close()
        #expect(access(path, F_OK) == 0)
    }

    @Test("any other descriptor is refused by its number")
    func others() throws {
        let pair = try LinkSocketPair()
        for number in [pair.childDescriptor, 1 << 20] {
            #expect(PassedListener(number) == nil)
            #expect(!LinkAddress.descriptor(number).isOverTCP)
            let error = failure { () throws(SocketError) in try SocketListener(at: .descriptor(number)) }
            #expect(
                error == .unusableDescriptor(number: number, reason: "it is not a socket that listens"))
        }
    }
}
