import MediaTypes
import STUN

@testable import WebRTC

/// The way from the host to one viewer: 5 ms long, and losing what the test says.
final class TestLink: DatagramSink {
    struct Sent {
        var time: MonotonicTime
        var datagram: [UInt8]
        var path: NetworkPath
        var isLost: Bool

        var kind: DatagramKind { DatagramKind(of: datagram) }
        /// Of a media packet: its header is not encrypted.
        var sequenceNumber: UInt16 { UInt16(datagram[2]) << 8 | UInt16(datagram[3]) }
        var ssrc: UInt32 { datagram[8..<12].reduce(0) { $0 << 8 | UInt32($1) } }
        var isMarked: Bool { datagram[1] & 0x80 != 0 }
    }

    var now = MonotonicTime.zero
    var inFlight: [(time: MonotonicTime, datagram: [UInt8])] = []
    private(set) var sent: [Sent] = []
    /// Whether there is room for more; without, what comes is still sent, as the media thread does later.
    var hasRoom = true
    /// Decides which media packets are lost.
    var loses: (_ packet: Sent) -> Bool = { _ in false }

    /// Whether requests to a viewer's candidates may be sent.
    var admitsChecks = true

    func admitsCheck(now: MonotonicTime) -> Bool { admitsChecks }

    /// Decides which datagrams of any kind don't arrive.
    var blocks: (_ datagram: Sent) -> Bool = { _ in false }

    /// The narrow hop on the way, if there is one: its rate, and how long packets may wait there.
    var narrow: (rate: BitRate, queue: Interval)?
    private var freeAt = MonotonicTime.zero

    /// The media packets sent, lost ones too.
    var media: [Sent] { sent.filter { $0.kind == .rtp } }

    func send(_ datagram: [UInt8], along path: NetworkPath) -> Bool {
        var entry = Sent(time: now, datagram: datagram, path: path, isLost: false)
        entry.isLost = entry.kind == .rtp && loses(entry) || blocks(entry)
        freeAt = max(freeAt, now)
        if let narrow, !entry.isLost {
            entry.isLost = freeAt - now > narrow.queue
            if !entry.isLost {
                freeAt =
                    freeAt
                    + Interval(
                        nanoseconds: Int64(datagram.count) * 8_000_000_000 / Int64(narrow.rate.bitsPerSecond))
            }
        }
        sent.append(entry)
        if !entry.isLost { inFlight.append((freeAt + Rig.delay, datagram)) }
        return hasRoom
    }
}
