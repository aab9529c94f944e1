import MediaSessions
import MediaTypes
import RTP
import TrackHub

/// What a sender makes of its peer's reports and requests.
extension TrackSender {
    /// Prepares for the packets of one RTCP datagram.
    mutating func beginFeedback(along path: inout PathControl, now: MonotonicTime) {
        feed.forgetHidden()
        responder.pathRoom = path.retransmissionRoom(now: now)
    }

    /// Handles a packet that is no request for a key frame. Retransmissions for NACKs are sent at once.
    mutating func handle(
        _ packet: RTCPPacket, along path: inout PathControl, arrival: MonotonicTime, now: MonotonicTime,
        send: ([UInt8]) -> Bool
    ) {
        for report in packet.receptionReports where report.ssrc == stream.configuration.ssrc {
            handle(report, along: &path, arrival: arrival, now: now)
        }
        switch packet {
        case .genericNack(let nack):
            // The bursts of a full queue end by themselves.
            if nack.media == stream.configuration.ssrc, path.hasRoomForCopies {
                tailLossProbe.requested(nack.sequenceNumbers, at: now)
            }
            for lost in stream.answer(nack, by: &responder, roundTripTime: roundTripTime, at: now) {
                let isSent = retransmit(lost, along: &path, now: now, send: send)
                if isSent, path.hasRoomForCopies { duplicator.retransmitted(lost.sequenceNumber, at: now) }
            }
        case .extendedReport(let report): reports.handle(report, arrival: arrival)
        default: break
        }
    }

    private mutating func handle(
        _ report: ReceptionReport, along path: inout PathControl, arrival: MonotonicTime, now: MonotonicTime
    ) {
        let measured = report.roundTripTime(now: stream.configuration.clock.time(at: arrival))
        roundTripTime = measured ?? roundTripTime
        if let last = stream.lastSequenceNumber {
            path.take(report, lastSent: last, roundTripTime: measured, arrival: arrival, now: now)
        }
        let highest = SequenceNumber(UInt16(truncatingIfNeeded: report.highestSequenceNumber))
        tailLossProbe.receiverReported(highest: highest)
        // Packets that arrive twice make it smaller (RFC 3550 section 6.4.1).
        lostPackets = max(lostPackets ?? 0, Int(report.cumulativeLost))
        duplicator.reported(fractionLost: report.fractionLost)
    }

    /// Adds the counts of what was sent to `statistics`.
    func count(in statistics: inout PeerStatistics) {
        statistics.framesSent += framesSent
        statistics.sentPackets += Int(stream.statistics.packetCount)
        statistics.retransmittedPackets += Int(stream.retransmissionStatistics.packetCount)
        statistics.sentOctets &+= stream.statistics.octetCount
        statistics.sentOctets &+= stream.retransmissionStatistics.octetCount
        statistics.roundTripTime = roundTripTime ?? statistics.roundTripTime
        if let lostPackets { statistics.lostPackets = (statistics.lostPackets ?? 0) + lostPackets }
        if layers.selector.layer == .low { statistics.getsLowLayer = true }
    }
}
