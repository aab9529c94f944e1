import MediaTypes
import STUN
import ScreenRelayKit
import Signalling
import WebRTC

/// The two UDP ports from which all clients get their packets and reports: an even one, and the next.
final class RTSPPorts {
    let rtp: UDPSocket
    let rtcp: UDPSocket
    let numbers: (rtp: UInt16, rtcp: UInt16)
    private var batch = DatagramBatch()
    /// Whether the kernel may divide a batch into its datagrams.
    private var segments: Bool

    private static let attempts = 64
    /// So many datagrams are taken at a time: those who send many must not keep the thread.
    private static let maxAtOnce = 64

    private init(_ rtp: consuming UDPSocket, _ rtcp: consuming UDPSocket, from number: UInt16) {
        segments = rtp.canSegment
        self.rtp = rtp
        self.rtcp = rtcp
        numbers = (number, number + 1)
    }

    /// Finds two free ports of the address that players connect to.
    static func open(beside address: ListenAddress) throws(ServerError) -> RTSPPorts {
        let text = address.address == "localhost" ? "127.0.0.1" : address.address
        guard let place = TransportAddress(numeric: text, port: 0) else {
            throw ServerError("\(address.address) is not a numeric address")
        }
        for _ in 0..<attempts {
            do throws(WebRTCError) {
                let first = try UDPSocket(bindingTo: place)
                guard let port = first.localAddress?.port, port.isMultiple(of: 2) else { continue }
                return RTSPPorts(first, try UDPSocket(bindingTo: place.with(port: port + 1)), from: port)
            } catch {
                guard error.isAddressTaken else { throw ServerError("\(error)") }
            }
        }
        throw ServerError("no two UDP ports side by side are free")
    }

    /// Sends packets of RTP to a client, those of one size with one system call. Returns how many; there is no room now
    /// for the others.
    func sendMedia(_ packets: ArraySlice<[UInt8]>, to peer: TransportAddress) -> Int {
        let path = NetworkPath(peer: peer, local: .unspecified(peer.family))
        var rest = packets
        while !rest.isEmpty {
            batch.removeAll()
            for packet in rest {
                guard batch.append(packet, along: path) else { break }
            }
            let count = sendBatch(along: path)
            rest = rest.dropFirst(count)
            if count < batch.count { break }
        }
        return packets.count - rest.count
    }

    /// Sends the packets of the batch. Returns how many.
    private func sendBatch(along path: NetworkPath) -> Int {
        if batch.count > 1, segments {
            switch rtp.send(batch.bytes, inSegmentsOf: batch.segmentByteCount, along: path) {
            case .done: return batch.count
            case .noRoom: return 0
            case .unsupported(let isForever): segments = !isForever
            }
        }
        var count = 0
        while count < batch.count, rtp.send(batch[count], along: path) { count += 1 }
        return count
    }

    /// Sends a report; one that can't be sent now is lost.
    func sendReport(_ packet: [UInt8], to peer: TransportAddress) {
        _ = rtcp.send(packet, along: NetworkPath(peer: peer, local: .unspecified(peer.family)))
    }

    /// Takes what has come on both ports, and passes it on with where it came from, and whether it came to the port of
    /// the reports. Reports go first: they tell the times of the packets.
    func receive(_ buffer: inout [UInt8], onDatagram: (ArraySlice<UInt8>, TransportAddress, Bool) -> Void) {
        for _ in 0..<Self.maxAtOnce {
            guard let received = rtcp.receive(into: &buffer) else { break }
            onDatagram(buffer[..<received.count], received.path.peer, true)
        }
        for _ in 0..<Self.maxAtOnce {
            guard let received = rtp.receive(into: &buffer) else { return }
            onDatagram(buffer[..<received.count], received.path.peer, false)
        }
    }
}
