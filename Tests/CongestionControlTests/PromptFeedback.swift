import CongestionControl
import MediaTypes
import RTP

/// Feedback that is read as soon as it has arrived.
extension CongestionController {
    mutating func receive(_ feedback: TransportFeedback, at now: MonotonicTime) {
        receive(feedback, arrival: now, at: now)
    }

    mutating func receive(
        _ report: ReceptionReport, lastSent: SequenceNumber, roundTripTime: Interval?, at now: MonotonicTime
    ) {
        receive(report, lastSent: lastSent, roundTripTime: roundTripTime, arrival: now, at: now)
    }
}
