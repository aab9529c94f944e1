import Glibc
import LinkTransport
import MediaTypes
import TestSupport
import Testing

@testable import RTMPServing

@Suite("A client over RTMP")
struct RTMPClientTests {
    @Test("pays for what it publishes at its rate, and may send a second's worth at once")
    func rate() throws {
        let listener = try LinkListener(at: .tcp(host: "127.0.0.1", port: 0), hasToken: true)
        let sender = try LinkConnection.connect(to: listener.address)
        let accepted = try eventually("the connection") { try listener.accept() }
        let client = RTMPClient(accepted, until: .distantFuture)
        client.handOver(silence: .seconds(90), bytesPerSecond: 10_000)
        let start = now()
        #expect(client.receivesFrom <= start)
        try sender.enqueue(header: [UInt8](repeating: 0, count: 50_000))
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        try eventually("all bytes") {
            try sender.flush()
            client.exchange(POLLIN, &buffer, now: start)
            return client.receivesFrom == start + .seconds(4)
        }
    }
}
