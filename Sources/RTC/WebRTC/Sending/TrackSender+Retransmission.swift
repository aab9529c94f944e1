import CongestionControl
import MediaTypes
import RTP

/// What a sender sends again, and how it shows losses at the end of a picture.
extension TrackSender {
    /// Sends what is due to show or repair losses.
    mutating func repair(along path: inout PathControl, now: MonotonicTime, send: ([UInt8]) -> Bool) {
        while let number = duplicator.next(at: now) { retransmitPackets([number], along: &path, now: now, send: send) }
        // While pictures are being sent, every gap becomes visible by itself.
        if !isBehind, let action = tailLossProbe.poll(at: now) {
            perform(action, along: &path, now: now, send: send)
        }
    }

    private mutating func perform(
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

    private mutating func retransmitPackets(
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

    /// Sends copies of `again` on the retransmission stream, or padding if that is nil, as many as the pace allows
    /// while the path is probed. Returns false if nothing can be written.
    mutating func pad(
        with again: SentPacket?, along path: inout PathControl, now: MonotonicTime, send: ([UInt8]) -> Bool
    ) -> Bool {
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

    private static let (leastProbePacket, fullProbePacket) = (250, 1000)

    /// Of the last packets whose frames are still there, the last one of a full size and the largest one, unless all
    /// are tiny.
    var packetsForProbes: (full: SentPacket?, largest: SentPacket?) {
        guard let last = stream.lastSequenceNumber else { return (nil, nil) }
        var largest: SentPacket?
        for distance in 0..<64 {
            guard let packet = stream.sent.packet(last.advanced(by: -distance)),
                packet.byteCount > largest?.byteCount ?? Self.leastProbePacket,
                case .media(let frame, _) = packet.content, feed.history.frame(frame) != nil
            else { continue }
            if packet.byteCount > Self.fullProbePacket { return (packet, packet) }
            largest = packet
        }
        return (nil, largest)
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
