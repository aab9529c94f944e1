import MediaSessions
import MediaTypes
import RTP
import TrackHub

/// What a sender makes of its peer's reports and requests.
extension TrackSender {
    /// Handles the packets of one RTCP datagram that arrived at `arrival`. Retransmissions for NACKs are sent at once.
    mutating func handle(
        _ packets: [RTCPPacket], along path: inout PathControl, arrival: MonotonicTime, now: MonotonicTime,
        send: ([UInt8]) -> Bool
    ) {
        feed.forgetHidden()
        responder.pathRoom = path.retransmissionRoom(now: now)
        for packet in packets {
            for report in packet.receptionReports where report.ssrc == stream.configuration.ssrc {
                let measured = report.roundTripTime(now: clock.time(at: arrival))
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
            case .extendedReport(let report):
                if report.referenceTime != nil { question = (report, arrival) }
            case .pictureLossIndication(let indication):
                guard indication.media == stream.configuration.ssrc else { continue }
                feed.record.keyFrameRequests += 1
                keyFrameRequested(now: now)
            case .fullIntraRequest(let request):
                for entry in request.entries where entry.ssrc == stream.configuration.ssrc {
                    feed.record.keyFrameRequests += 1
                    if keyFrameRequests.takeOrder(sender: request.sender, sequenceNumber: entry.sequenceNumber) {
                        keyFrameRequested(now: now)
                    }
                }
            default: break
            }
        }
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
        if layerSelector.layer == .low { statistics.getsLowLayer = true }
    }
}
