import STUN
import TestSupport
import Testing

@testable import WebRTC

struct DatagramBatchTests {
    private let path = NetworkPath(
        peer: TransportAddress(ipv4: 127, 0, 0, 1, port: 9), local: TransportAddress(ipv4: 127, 0, 0, 1, port: 8))

    @Test("a batch takes datagrams of one size to one peer, and a shorter one only as the last")
    func takes() {
        var batch = DatagramBatch()
        var other = path
        other.peer = TransportAddress(ipv4: 127, 0, 0, 1, port: 10)
        let datagrams: [([UInt8], NetworkPath)] = [
            ([1, 2, 3], path), ([1, 2, 3, 4], path), ([1, 2, 3], other), ([4, 5, 6], path), ([7], path), ([8], path),
        ]
        let areTaken = datagrams.map { batch.append($0, along: $1) }
        #expect(areTaken == [true, false, false, true, true, false])
        #expect((0..<batch.count).map { Array(batch[$0]) } == [[1, 2, 3], [4, 5, 6], [7]])
        batch.removeAll()
        #expect(batch.path == nil)
        let begins = batch.append([9, 9, 9, 9], along: other)
        #expect(begins && batch.path == other)
    }

    @Test("a batch has a limit")
    func limit() {
        var batch = DatagramBatch()
        var count = 0
        while count < 1000, batch.append([1], along: path) { count += 1 }
        #expect(count == batch.count)
        #expect((8...64).contains(count))
    }

    @Test("batches that the kernel refuses on the route to one peer are still tried for others")
    func refusedRoute() {
        var segmentation = Segmentation(isAvailable: true)
        var other = path
        other.peer = TransportAddress(ipv4: 192, 0, 2, 1, port: 9)
        segmentation.refuse(path.peer)
        #expect(!segmentation.allows(path.peer) && segmentation.allows(other.peer))
        for port in UInt16(1)...5000 { segmentation.refuse(TransportAddress(ipv4: 192, 0, 2, 2, port: port)) }
        #expect(segmentation.allows(path.peer), "it isn't kept forever")
        #expect(!Segmentation(isAvailable: false).allows(path.peer))
    }

    @Test(
        "the kernel divides a batch into its datagrams, from the address that the peer knows", arguments: [false, true])
    func segments(isIPv6: Bool) throws {
        let address =
            isIPv6
            ? TransportAddress(family: .ipv6, high: 0, low: 1, port: 0)
            : TransportAddress(ipv4: 127, 0, 0, 1, port: 0)
        let receiver = try UDPSocket(bindingTo: address)
        // The socket that all peers share is bound to the wildcard.
        let sender = try UDPSocket(bindingTo: .unspecified(.ipv6))
        let canSegment = sender.canSegment
        let (peer, own) = (receiver.localAddress, sender.localAddress)
        try #require(canSegment)
        let to = try #require(peer)
        let local = address.with(port: try #require(own).port)
        let datagrams = [[UInt8](repeating: 1, count: 900), [UInt8](repeating: 2, count: 900), [3, 4]]
        let result = sender.send(
            datagrams.flatMap(\.self), inSegmentsOf: 900, along: NetworkPath(peer: to, local: local))
        guard case .done = result else {
            Issue.record("not sent: \(result)")
            return
        }
        var buffer = [UInt8](repeating: 0, count: 2048)
        // Loopback delivers at once.
        for datagram in datagrams {
            let received = receiver.receive(into: &buffer)
            #expect(received?.count == datagram.count && received?.path.peer == local)
            #expect(buffer.starts(with: datagram))
        }
        let isDone = receiver.receive(into: &buffer) == nil
        #expect(isDone)
    }
}
