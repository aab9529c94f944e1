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
            retransmitPackets([last], along: &path, now: now, send: send)
        case .retransmitPicture:
            retransmitPackets(tailLossProbe.pictureSequenceNumbers, along: &path, now: now, send: send)
        }
    }

    mutating func retransmitPackets(
        _ numbers: [SequenceNumber], along path: inout PathControl, now: MonotonicTime, send: ([UInt8]) -> Bool
    ) {
        for number in numbers {
            guard let packet = stream.sent.packet(number) else { continue }
            if retransmit(packet, along: &path, now: now, send: send) {
                responder.noteProbeSent(byteCount: packet.byteCount, at: now)
            }
        }
    }

    /// Sends packets of no other use, as many as the pace allows now: they show whether the path carries more.
    ///
    /// A large probe is made of a packet that was sent a moment ago, on the retransmission stream: a few hundred
    /// padding packets would be more than libwebrtc forgives (see ``TailLossProbe``).
    mutating func pad(along path: inout PathControl, now: MonotonicTime, send: ([UInt8]) -> Bool) {
        let isLarge = path.plan.probe.map { $0.minByteCount >= Self.largeProbe } ?? false
        let again = isLarge && stream.hasRetransmission ? lastLargePacket : nil
        while !isStalled, path.plan.probe != nil, path.tryConsume(byteCount: again?.byteCount ?? 300, now: now) {
            let isWritten =
                if let again {
                    stream.writeRetransmission(
                        again, from: feed.history, transportNumber: path.nextNumber, into: &feed.packet)
                } else {
                    stream.writePadding(.max, transportNumber: path.nextNumber, into: &feed.packet) != nil
                }
            guard isWritten else { return }
            path.sent(byteCount: feed.packet.count, isPaced: true, now: now)
            if !protectAndSend(send) { isStalled = true }
            path.continueProbe(now: now)
        }
    }

    private static let largeProbe = 12_000

    /// A packet of a full size among the last ones sent; nil if there is none.
    private var lastLargePacket: SentPacket? {
        guard var number = stream.lastSequenceNumber else { return nil }
        for _ in 0..<16 {
            if let packet = stream.sent.packet(number), packet.byteCount > 1000 { return packet }
            number = SequenceNumber(number.rawValue &- 1)
        }
        return nil
    }

    /// Sends `packet` again. Returns false if its frame is no longer there.
    @discardableResult
    mutating func retransmit(
        _ packet: SentPacket, along path: inout PathControl, now: MonotonicTime, send: ([UInt8]) -> Bool
    ) -> Bool {
        let number = path.nextNumber
        guard stream.writeRetransmission(packet, from: feed.history, transportNumber: number, into: &feed.packet) else {
            return false
        }
        if stream.hasRetransmission {
            path.sent(byteCount: feed.packet.count, isPaced: false, now: now)
        } else {
            path.sentUnnumbered(byteCount: feed.packet.count, now: now)
        }
        _ = protectAndSend(send)
        return true
    }
}
