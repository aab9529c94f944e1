import Glibc
import MediaSessions
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("From start to stop")
struct ServerLifeTests {
    @Test("an occupied port is an error that names address and port")
    func occupied() throws {
        let first = try RunningServer()
        let address = ListenAddress(address: "127.0.0.1", port: first.port)
        let second = SignallingServer(SignallingConfiguration(listen: [address], rooms: []))
        let error = #expect(throws: SignallingError.self) { try second.start() }
        #expect(error == .occupied(address))
        #expect(try #require(error).description.contains("127.0.0.1:\(first.port)"))
    }

    @Test("what isn't an address, or isn't ours, is an error that names it")
    func badAddresses() {
        func start(_ address: String) throws {
            let listen = ListenAddress(address: address, port: 0)
            try SignallingServer(SignallingConfiguration(listen: [listen], rooms: [])).start()
        }
        #expect(throws: SignallingError.notAnAddress("here")) { try start("here") }
        #expect(throws: SignallingError.notOurs(ListenAddress(address: "192.0.2.1", port: 0))) {
            try start("192.0.2.1")
        }
    }

    @Test("a server listens on several addresses, localhost among them")
    func severalAddresses() throws {
        let server = try RunningServer {
            $0.listen = [ListenAddress(address: "localhost", port: 0), ListenAddress(address: "127.0.0.1", port: 0)]
        }
        for address in server.server.addresses {
            #expect(try TestSocket(port: address.port).request("GET", "/healthz").status == 204)
        }
        #expect(server.server.addresses.count == 2)
    }

    @Test("a server uses a socket that was bound for it, and serves clients that came before it")
    func passed() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let port = try bindToLoopback(descriptor)
        #expect(ListenAddress(passed: descriptor) == nil)
        #expect(listen(descriptor, 4) == 0)
        let address = try #require(ListenAddress(passed: descriptor))
        #expect("\(address)" == "127.0.0.1:\(port)")
        let early = try TestSocket(port: port)
        let server = try RunningServer { $0.listen = [address] }
        #expect(server.port == port)
        #expect(try early.request("GET", "/healthz").status == 204)
        server.server.stop()
        try eventually("nobody there") { (try? TestSocket(port: port)) == nil }
    }

    @Test("stopping says 1001 to WebSockets, ends the sessions and gives the port back")
    func stopping() throws {
        let server = try RunningServer()
        let client = try WebSocketClient(port: server.port)
        let (_, host) = try client.joinAsViewer("desk,secret")
        try client.send(offer: "v=0", to: host)
        _ = try client.next(event: "_answer")
        let headers = ["Authorization": "Bearer secret", "Content-Type": "application/sdp"]
        #expect(try server.request("POST", "/whep/desk", headers, body: "v=0\r\n").status == 201)
        let idle = try TestSocket(port: server.port)
        server.server.stop()
        #expect(try client.next() == .close(1001))
        try client.raw.waitForEnd()
        try idle.waitForEnd()
        #expect(Set(server.media.state.withLock { $0.closed.map(\.rawValue) }) == [1, 2])
        // What another test starts meanwhile holds the port until it becomes another program.
        try eventually("nobody there") { (try? TestSocket(port: server.port)) == nil }
        server.server.stop()
        server.server.announce(.live, room: "desk")
        #expect(server.server.addresses.isEmpty)
        #expect(throws: SignallingError.alreadyStarted) { try server.server.start() }
        // Late words of the media side reach nobody.
        server.media.end(1, "late")
        try eventually("the port") {
            let again = SignallingServer(
                SignallingConfiguration(listen: [ListenAddress(address: "127.0.0.1", port: server.port)], rooms: []))
            defer { again.stop() }
            return (try? again.start()) != nil
        }
    }

    @Test("a server that was never started stops without a word")
    func neverStarted() {
        SignallingServer(SignallingConfiguration(listen: [], rooms: [])).stop()
    }
}
