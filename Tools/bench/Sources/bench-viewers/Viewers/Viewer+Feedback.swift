import MediaTypes
import RTP
import SecureTransport

/// The viewer's reports and requests.
extension Viewer {
    private static let reportInterval = Interval.seconds(1)
    private static let keyFrameRequestInterval = Interval.milliseconds(500)

    /// Sends the reports that are due, and requests a key frame if a picture is lost for good. Called every 100 ms.
    func report(now: MonotonicTime) {
        guard phase == .watching, let stream, surroundings.plan.feedback != .none else { return }
        let media = SSRC(stream.source)
        if surroundings.plan.feedback == .all, stream.brokenPictures != noticedBroken, now >= nextKeyFrameRequest {
            noticedBroken = stream.brokenPictures
            nextKeyFrameRequest = now + Self.keyFrameRequestInterval
            counters.keyFrameRequests += 1
            let request = PictureLossIndication(sender: ssrc, media: media)
            sendControl { request.write(into: &$0) }
        }
        if surroundings.plan.sendsTransportFeedback {
            while let feedback = arrivals.report(sender: ssrc, media: media) {
                counters.reports += 1
                sendControl { feedback.write(into: &$0) }
            }
        }
        guard now >= nextReport else { return }
        if nextReport == .zero {
            // The reports of many viewers don't come at once.
            nextReport = now + .milliseconds(Int64.random(in: 0..<1000))
            return
        }
        nextReport = max(nextReport + Self.reportInterval, now + Self.reportInterval / 2)
        guard var reception = statistics.report(ssrc: media, now: now) else { return }
        if reportsFalsely { reception.highestSequenceNumber = 0 }
        counters.reports += 1
        sendControl { [ssrc, reception] buffer in
            ReceiverReport(ssrc: ssrc, receptionReports: [reception]).write(into: &buffer)
            SourceDescription(ssrc: ssrc, canonicalName: "viewer").write(into: &buffer)
        }
    }

    /// Requests packets that are missing. Called every 10 ms while there are any.
    func requestMissing(now: MonotonicTime) {
        guard phase == .watching, let source = stream?.source else { return }
        surroundings.numbers.removeAll(keepingCapacity: true)
        stream?.collectMissing(now: now, into: &surroundings.numbers)
        collectPictures()
        let numbers = surroundings.numbers
        guard surroundings.plan.feedback == .all, !numbers.isEmpty else { return }
        counters.requests += numbers.count
        let nack = GenericNack(sender: ssrc, media: SSRC(source), sequenceNumbers: numbers)
        sendControl { nack.write(into: &$0) }
    }

    private func sendControl(_ write: (inout [UInt8]) -> Void) {
        guard let protector else { return }
        surroundings.scratch.removeAll(keepingCapacity: true)
        write(&surroundings.scratch)
        guard (try? protector.protectRTCP(&surroundings.scratch)) != nil else { return }
        send(surroundings.scratch)
    }
}
