import CongestionControl
import MediaTypes
import RTP

/// What a sender sends again, and how it shows losses at the end of a picture.
extension TrackSender {
    mutating func perform(
        _ action: TailLossProbe.Action, along path: inout PathControl, now: MonotonicTime, send: ([UInt8]) -> Bool
    ) {
        guard let last = stream.lastSequenceNumber else { return }
        switch action {
        case .padding:
            guard let sent = stream.writePadding(transportNumber: path.nextNumber, into: &feed.packet) else { return }
            responder.noteProbeSent(byteCount: sent.byteCount, at: now)
            path.sentPadding(byteCount: sent.byteCount, now: now)
            _ = protectAndSend(send)
        case .retransmitLastPacket:
            retransmitPackets([last], asSent: true, along: &path, now: now, send: send)
        case .retransmitPicture:
            retransmitPackets(tailLossProbe.pictureSequenceNumbers, along: &path, now: now, send: send)
        }
    }

    mutating func retransmitPackets(
        _ numbers: [SequenceNumber], asSent: Bool = false, along path: inout PathControl, now: MonotonicTime,
        send: ([UInt8]) -> Bool
    ) {
        for number in numbers {
            guard let packet = stream.sent.packet(number) else { continue }
            if retransmit(packet, asSent: asSent, along: &path, now: now, send: send) {
                responder.noteProbeSent(byteCount: packet.byteCount, at: now)
            }
        }
    }

    /// Sends packets of no other use, as many as the pace allows now: they show whether the path carries more. Returns
    /// false if there is nothing to send.
    ///
    /// A large probe is made of a packet that was sent a moment ago, on the retransmission stream: a few hundred
    /// padding packets would be more than libwebrtc forgives (see ``TailLossProbe``). So is each probe of a server's
    /// path, because servers pass padding on to their viewers, but not retransmissions.
    mutating func pad(along path: inout PathControl, now: MonotonicTime, send: ([UInt8]) -> Bool) -> Bool {
        let isLarge = path.plan.probe.map { $0.minByteCount >= Self.largeProbe } ?? false
        let again = stream.hasRetransmission && (isLarge || isForServer) ? packetForProbes : nil
        if again == nil, isForServer, stream.hasRetransmission { return false }
        while !isStalled, path.plan.probe != nil, path.tryConsume(byteCount: again?.byteCount ?? 300, now: now) {
            let isWritten =
                if let again {
                    stream.writeRetransmission(
                        again, from: feed.history, transportNumber: path.nextNumber, into: &feed.packet)
                } else {
                    stream.writePadding(.max, transportNumber: path.nextNumber, into: &feed.packet) != nil
                }
            guard isWritten else { return false }
            path.sent(byteCount: feed.packet.count, isPaced: true, now: now)
            if !protectAndSend(send) { isStalled = true }
            path.continueProbe(now: now)
        }
        return true
    }

    private static let largeProbe = 12_000
    private static let (leastProbePacket, fullProbePacket) = (250, 1000)

    /// The last packet of a full size whose frame is still there, or for a server the largest one; nil without any.
    /// Small packets would make a probe of very many, and a viewer can get padding instead.
    private var packetForProbes: SentPacket? {
        guard let last = stream.lastSequenceNumber else { return nil }
        var largest: SentPacket?
        for distance in 0..<64 {
            guard let packet = stream.sent.packet(last.advanced(by: -distance)),
                packet.byteCount > largest?.byteCount ?? Self.leastProbePacket,
                case .media(let frame, _) = packet.content, feed.history.frame(frame) != nil
            else { continue }
            if packet.byteCount > Self.fullProbePacket { return packet }
            largest = packet
        }
        return isForServer ? largest : nil
    }

    /// Sends `packet` again: on the retransmission stream if there is one and unless `asSent` says bit for bit. Returns
    /// false if its frame is no longer there.
    @discardableResult
    mutating func retransmit(
        _ packet: SentPacket, asSent: Bool = false, along path: inout PathControl, now: MonotonicTime,
        send: ([UInt8]) -> Bool
    ) -> Bool {
        let number = path.nextNumber
        guard
            stream.writeRetransmission(
                packet, from: feed.history, asSent: asSent, transportNumber: number, into: &feed.packet)
        else { return false }
        if stream.hasRetransmission, !asSent {
            path.sent(byteCount: feed.packet.count, isPaced: false, now: now)
        } else {
            path.sentUnnumbered(byteCount: feed.packet.count, now: now)
        }
        _ = protectAndSend(send)
        return true
    }
}
