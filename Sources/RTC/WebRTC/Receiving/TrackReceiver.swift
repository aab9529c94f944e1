import MediaTypes
import RTP
import SecureTransport

/// The negotiated parameters of a track that a publisher sends, or a server whose viewer we are.
struct Publication: Sendable {
    /// The payload types of the packets in one format.
    struct Format: Sendable {
        var payloadType: PayloadType
        /// The payload type of retransmissions (RFC 4588); nil if the publisher sends lost packets again unchanged.
        var rtxPayloadType: PayloadType?
    }

    /// The SSRC of our reports about it.
    var ssrc: SSRC
    /// The formats that the packets may have: one of a publisher, and one for each chroma format of a server.
    var formats: [Format]
    var track: TrackFormat
    /// Whether the publisher retransmits packets on request.
    var answersNacks: Bool
    /// Whether the publisher announces that it sends a key frame on request.
    var answersKeyFrameRequests: Bool
    /// Whether feedback may be sent without a report (RFC 5506).
    var hasReducedSizeRTCP: Bool
    /// The number of the header extension with the transport-wide number; nil if the publisher takes no feedback on it.
    var transportNumberID: UInt8?
    /// The receiver of its frames.
    var receiver: any PublishedFrameReceiver

    /// A buffer for its packets. Audio continues without a missing packet, which is therefore worth only a short wait:
    /// viewers leave out packets that arrive later than ``AudioSender/maxWait``.
    var buffer: JitterBuffer {
        switch track.kind {
        case .video: JitterBuffer()
        case .audio: JitterBuffer(timeout: .milliseconds(answersNacks ? 120 : 40))
        }
    }
}

/// The receiver of one track of a session: puts packets in order, reassembles frames, and sends requests to the
/// publisher.
///
/// Sans-IO: time and the sink are arguments. Belongs to the media thread.
struct TrackReceiver {
    /// The time at which ``advance(now:send:)`` must be called even if nothing arrives.
    private(set) var deadline = MonotonicTime.zero

    /// The minimum interval between two requests for a key frame.
    private static let askingInterval = Interval.milliseconds(500)
    /// How long a publisher has to send a key frame, and how long pictures that need one are held back.
    private static let keyFrameTimeout = Interval.seconds(2)
    /// How long a stream must have been silent before another one may replace it.
    private static let streamTimeout = Interval.seconds(1)

    private let publication: Publication
    private let protector: SRTPSession
    private let canonicalName: String

    /// The stream that is received; nil before its first packet.
    private var ssrc: SSRC?
    private var lastPacket = MonotonicTime.zero
    private var buffer: JitterBuffer
    private var reassembler: FrameReassembler
    private var statistics: ReceptionStatistics
    private var clock: ArrivalClock
    private var reports: ReportSchedule

    /// The time since which a key frame has been requested; nil if none is.
    private var askingSince: MonotonicTime?
    private var askedAt: MonotonicTime?
    private var hasToldIgnored = false
    /// The time since which undecodable pictures have been left out; nil if all can be decoded.
    private var brokenSince: MonotonicTime?
    private var hasHadKeyFrame = false
    private var outgoing: [UInt8] = []

    /// Creates a receiver that starts now.
    init(
        _ parameters: SessionParameters, _ publication: Publication, protector: SRTPSession, now: MonotonicTime
    ) {
        self.publication = publication
        buffer = publication.buffer
        reassembler = FrameReassembler(publication.track.codec)
        statistics = ReceptionStatistics(publication.track.clockRate)
        clock = ArrivalClock(publication.track.clockRate)
        self.protector = protector
        canonicalName = parameters.canonicalName
        reports = ReportSchedule(start: now + ReportSchedule.interval)
        brokenSince = now
    }

    /// Handles an authenticated packet that arrived at `arrival`. Packets of other tracks' payload types are ignored.
    mutating func handle(_ packet: RTPPacket, arrival: MonotonicTime, now: MonotonicTime) {
        let header = packet.header
        if let format = publication.formats.first(where: { $0.rtxPayloadType == header.payloadType }) {
            return repair(packet, in: format, now: now)
        }
        guard publication.formats.contains(where: { $0.payloadType == header.payloadType }) else { return }
        if ssrc != header.ssrc {
            guard ssrc == nil || now - lastPacket >= Self.streamTimeout else { return }
            begin(header.ssrc, now: now)
        }
        forgive(silence: now - lastPacket)
        lastPacket = now
        statistics.note(header, now: arrival)
        buffer.insert(packet, now: now)
        assemble(now: now)
    }

    /// Inserts the missing packet that `retransmission` contains. The retransmission stream's own SSRC, sequence
    /// numbers and statistics aren't needed: its packets are authenticated like all others, and one that isn't missing
    /// is ignored, such as one that only measures the path.
    private mutating func repair(_ retransmission: RTPPacket, in format: Publication.Format, now: MonotonicTime) {
        guard let ssrc,
            let packet = retransmission.retransmitted(payloadType: format.payloadType, ssrc: ssrc),
            buffer.isMissing(packet.header.sequenceNumber)
        else { return }
        buffer.insert(packet, now: now)
        assemble(now: now)
    }

    /// Excludes a silence from the timeouts: a publisher that we did not hear may not have heard us either.
    private mutating func forgive(silence: Interval) {
        guard lastPacket > .zero, silence > Self.streamTimeout else { return }
        let pause = silence - Self.streamTimeout
        askingSince = askingSince.map { $0 + pause }
        brokenSince = brokenSince.map { $0 + pause }
    }

    /// Handles the packets of one RTCP datagram that arrived at `arrival`.
    mutating func handle(_ packets: [RTCPPacket], arrival: MonotonicTime) {
        for case .senderReport(let report) in packets where report.ssrc == ssrc {
            statistics.note(report, now: arrival)
            clock.note(report, arrival: arrival)
        }
    }

    /// Asks the publisher for a key frame until one arrives. Does nothing if the publisher has said that it doesn't
    /// support such requests.
    mutating func requestKeyFrame(now: MonotonicTime) {
        guard publication.answersKeyFrameRequests, askingSince == nil else { return }
        askingSince = now
        deadline = .zero
    }

    /// Sends what is due: requests for packets and for a key frame, and reports.
    mutating func advance(now: MonotonicTime, send: ([UInt8]) -> Bool) {
        assemble(now: now)
        if let ssrc {
            while true {
                let missing = buffer.requests(now: now)
                guard !missing.isEmpty else { break }
                // Requests that the publisher would not answer are not sent; the packets are still given up in time.
                guard publication.answersNacks else { continue }
                let nack = GenericNack(sender: publication.ssrc, media: ssrc, sequenceNumbers: missing)
                self.send(.genericNack(nack), send)
            }
            if askingSince != nil, askedAt.map({ now - $0 >= Self.askingInterval }) ?? true {
                askedAt = now
                let indication = PictureLossIndication(sender: publication.ssrc, media: ssrc)
                self.send(.pictureLossIndication(indication), send)
            }
            if reports.isDue(at: now) { sendReport(ssrc, now: now, send) }
        }
        schedule()
    }

    // MARK: Frames

    private mutating func begin(_ stream: SSRC, now: MonotonicTime) {
        ssrc = stream
        buffer = publication.buffer
        reassembler = FrameReassembler(publication.track.codec)
        statistics = ReceptionStatistics(publication.track.clockRate)
        clock = ArrivalClock(publication.track.clockRate)
        brokenSince = brokenSince ?? now
    }

    private mutating func assemble(now: MonotonicTime) {
        for packet in buffer.take(now: now) {
            for frame in reassembler.receive(packet.header, payload: packet.payload) { take(frame, now: now) }
        }
    }

    private mutating func take(_ frame: ReceivedFrame, now: MonotonicTime) {
        let time = clock.time(of: frame.timestamp, arrival: now)
        guard let contents = frame.contents else {
            // A packet of sound that is missing is missed by nobody but its listeners, who conceal it.
            guard publication.track.kind == .video else { return }
            brokenSince = brokenSince ?? now
            requestKeyFrame(now: now)
            return
        }
        if contents.isRandomAccess {
            hasHadKeyFrame = true
            brokenSince = nil
            askingSince = nil
        } else if contents.hasMedia {
            tellIfIgnored(now: now)
            if let brokenSince {
                // A damaged picture is better than one that stands still forever.
                guard hasHadKeyFrame, now - brokenSince >= Self.keyFrameTimeout else {
                    return requestKeyFrame(now: now)
                }
                self.brokenSince = nil
            }
        }
        publication.receiver.receive(
            PublishedFrame(
                codec: publication.track.codec, units: contents.units, isRandomAccess: contents.isRandomAccess,
                hasMedia: contents.hasMedia, captureTime: time, arrival: now, lostPackets: buffer.lostPackets))
    }

    private mutating func tellIfIgnored(now: MonotonicTime) {
        guard let askingSince, now - askingSince >= Self.keyFrameTimeout else { return }
        self.askingSince = nil
        guard !hasToldIgnored else { return }
        hasToldIgnored = true
        publication.receiver.keyFrameRequestsIgnored()
    }

    // MARK: Sending

    private mutating func sendReport(_ ssrc: SSRC, now: MonotonicTime, _ send: ([UInt8]) -> Bool) {
        guard let reception = statistics.report(ssrc: ssrc, now: now) else { return }
        self.send(ReceiverReport(ssrc: publication.ssrc, receptionReports: [reception]), send)
    }

    /// Sends `report`.
    private mutating func send(_ report: ReceiverReport, _ send: ([UInt8]) -> Bool) {
        outgoing.removeAll(keepingCapacity: true)
        appendReport(report)
        sendOutgoing(send)
    }

    /// Sends `feedback`: without a report if the publisher has agreed to that, since FFmpeg reads only the first packet
    /// of a datagram; otherwise after a report, since not all publishers accept feedback without one.
    private mutating func send(_ feedback: RTCPPacket, _ send: ([UInt8]) -> Bool) {
        outgoing.removeAll(keepingCapacity: true)
        if !publication.hasReducedSizeRTCP { appendReport(ReceiverReport(ssrc: publication.ssrc)) }
        feedback.write(into: &outgoing)
        sendOutgoing(send)
    }

    private mutating func appendReport(_ report: ReceiverReport) {
        report.write(into: &outgoing)
        SourceDescription(ssrc: publication.ssrc, canonicalName: canonicalName).write(into: &outgoing)
    }

    private mutating func sendOutgoing(_ send: ([UInt8]) -> Bool) {
        guard (try? protector.protectRTCP(&outgoing)) != nil else { return }
        // If this is lost on a full socket, the request is repeated.
        _ = send(outgoing)
    }

    private mutating func schedule() {
        deadline = min(buffer.deadline, ssrc == nil ? .distantFuture : reports.deadline)
        if askingSince != nil, ssrc != nil {
            deadline = min(deadline, askedAt.map { $0 + Self.askingInterval } ?? .zero)
        }
    }
}
