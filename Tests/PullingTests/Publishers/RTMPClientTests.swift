import Glibc
import LinkTransport
import MediaTypes
import TestSupport
import Testing

@testable import RTMPServing

@Suite("A client over RTMP")
struct RTMPClientTests {
    private let sender: SocketConnection
    private let accepted: SocketConnection
    /// Has a rate of 10,000 bytes per second.
    private let client: RTMPClient
    private let start = now()

    init() throws {
        let listener = try SocketListener(at: .tcp(host: "127.0.0.1", port: 0), hasToken: true)
        sender = try SocketConnection.connect(to: listener.address)
        accepted = try eventually("the connection") { try listener.accept() }
        client = RTMPClient(accepted, until: .distantFuture)
        client.handOver(silence: .seconds(90), bytesPerSecond: 10_000)
    }

    /// Sends 50,000 bytes, which are received at once.
    private func exceedRate(_ buffer: inout [UInt8]) throws {
        try sender.enqueue(header: [UInt8](repeating: 0, count: 50_000))
        try eventually(
            "all bytes",
            holds: {
                try sender.flush()
                client.exchange(POLLIN, &buffer, now: start)
                return client.receivesFrom == start + .seconds(4)
            })
    }

    @Test("pays for what it publishes at its rate, and may send a second's worth at once")
    func rate() throws {
        #expect(client.receivesFrom <= start)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        try exceedRate(&buffer)
    }

    @Test("isn't read beyond its rate because the host can send it an answer")
    func answers() throws {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        try exceedRate(&buffer)
        try sender.enqueue(header: [UInt8](repeating: 0, count: 1000))
        try eventually(
            "more bytes",
            holds: {
                try sender.flush()
                var waiting = pollfd(fd: accepted.descriptor, events: Int16(POLLIN), revents: 0)
                return poll(&waiting, 1, 0) > 0
            })
        client.exchange(POLLOUT, &buffer, now: start)
        #expect(client.receivesFrom == start + .seconds(4))
        // Later it is, because a TLS handshake may have waited until something could be sent.
        client.exchange(POLLOUT, &buffer, now: start + .seconds(4))
        #expect(client.receivesFrom == start + .milliseconds(4100))
    }
}
