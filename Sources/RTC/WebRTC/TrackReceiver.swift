import MediaTypes
import RTP
import SecureTransport

/// What offer and answer settled about the video that a publisher sends.
struct Publication: Sendable {
    var payloadType: PayloadType
    /// Whether it sends packets again that are asked for.
    var answersNacks: Bool
    /// Whether it says that it makes an IDR when asked.
    var answersKeyFrameRequests: Bool
    /// Who takes its access units.
    var receiver: any PublishedUnitReceiver
}

/// The receiving half of a session: packets put in order, access units put together, and what the publisher is asked for.
///
/// Sans-IO: time and the sink are arguments. Belongs to the media thread.
struct TrackReceiver {
    /// When ``advance(now:protector:send:)`` has something to do though nothing came.
    private(set) var deadline = MonotonicTime.zero

    /// The least time between two requests for an IDR.
    private static let askingInterval = Interval.milliseconds(500)
    /// How long a publisher has for an IDR, and how long pictures wait for one that can't be decoded without.
    private static let keyFramePatience = Interval.seconds(2)
    /// How long a stream must have been silent for another one to take its place.
    private static let streamPatience = Interval.seconds(1)

    private let publication: Publication
    /// Of our reports.
    private let ownSSRC: SSRC
    private let canonicalName: String

    /// The stream that is taken; nil before its first packet.
    private var ssrc: SSRC?
    private var lastPacket = MonotonicTime.zero
    private var buffer = ReceptionBuffer()
    private var depacketizer = H264Depacketizer()
    private var statistics = ReceptionStatistics()
    private var clock = ArrivalClock()
    private var reports: ReportSchedule

    /// Since when an IDR is asked for; nil while none is.
    private var askingSince: MonotonicTime?
    private var askedAt: MonotonicTime?
    private var hasToldIgnored = false
    /// Since when pictures are left out that can't be decoded; nil while all can.
    private var brokenSince: MonotonicTime?
    private var hasHadIDR = false
    private var outgoing: [UInt8] = []

    /// A receiver that begins now.
    init(_ parameters: SessionParameters, _ publication: Publication, now: MonotonicTime) {
        self.publication = publication
        ownSSRC = parameters.ssrc
        canonicalName = parameters.canonicalName
        reports = ReportSchedule(start: now + ReportSchedule.interval)
        brokenSince = now
    }

    /// Takes a packet that has been authenticated. Those of other payload types, such as the audio's, are dropped.
    mutating func handle(_ packet: RTPPacket, now: MonotonicTime) {
        let header = packet.header
        guard header.payloadType == publication.payloadType else { return }
        if ssrc != header.ssrc {
            guard ssrc == nil || now - lastPacket >= Self.streamPatience else { return }
            begin(header.ssrc, now: now)
        }
        forgive(silence: now - lastPacket)
        lastPacket = now
        statistics.note(header, now: now)
        buffer.insert(packet, now: now)
        assemble(now: now)
    }

    /// What wasn't heard for so long may not have heard us either: that time is not counted against it.
    private mutating func forgive(silence: Interval) {
        guard lastPacket > .zero, silence > Self.streamPatience else { return }
        let pause = silence - Self.streamPatience
        askingSince = askingSince.map { $0 + pause }
        brokenSince = brokenSince.map { $0 + pause }
    }

    /// Takes the packets of one RTCP datagram.
    mutating func handle(_ packets: [RTCPPacket], now: MonotonicTime) {
        for case .senderReport(let report) in packets where report.ssrc == ssrc {
            statistics.note(report, now: now)
            clock.note(report, arrival: now)
        }
    }

    /// Asks the publisher for an IDR picture, until one comes; nothing where it has said that it can't be asked.
    mutating func requestKeyFrame(now: MonotonicTime) {
        guard publication.answersKeyFrameRequests, askingSince == nil else { return }
        askingSince = now
        deadline = .zero
    }

    /// Sends what is due: requests for packets and for an IDR, reports.
    mutating func advance(now: MonotonicTime, protector: SRTPSession, send: ([UInt8]) -> Bool) {
        assemble(now: now)
        if let ssrc {
            while true {
                let missing = buffer.requests(now: now)
                guard !missing.isEmpty else { break }
                // What nobody would answer isn't asked, and given up in its time all the same.
                guard publication.answersNacks else { continue }
                let nack = GenericNack(sender: ownSSRC, media: ssrc, sequenceNumbers: missing)
                self.send(ReceiverReport(ssrc: ownSSRC), .genericNack(nack), protector, send)
            }
            if askingSince != nil, askedAt.map({ now - $0 >= Self.askingInterval }) ?? true {
                askedAt = now
                let indication = PictureLossIndication(sender: ownSSRC, media: ssrc)
                self.send(ReceiverReport(ssrc: ownSSRC), .pictureLossIndication(indication), protector, send)
            }
            if reports.isDue(at: now) { sendReport(ssrc, now: now, protector, send) }
        }
        schedule()
    }

    // MARK: Access units

    private mutating func begin(_ stream: SSRC, now: MonotonicTime) {
        ssrc = stream
        buffer = ReceptionBuffer()
        depacketizer = H264Depacketizer()
        statistics = ReceptionStatistics()
        clock = ArrivalClock()
        brokenSince = brokenSince ?? now
    }

    private mutating func assemble(now: MonotonicTime) {
        for packet in buffer.take(now: now) {
            for unit in depacketizer.receive(packet.header, payload: packet.payload) { take(unit, now: now) }
        }
    }

    private mutating func take(_ unit: ReceivedAccessUnit, now: MonotonicTime) {
        let time = clock.time(of: unit.timestamp, arrival: now)
        guard unit.isComplete else {
            brokenSince = brokenSince ?? now
            requestKeyFrame(now: now)
            return
        }
        let published = PublishedUnit(nalUnits: unit.nalUnits, captureTime: time, arrival: now)
        if published.isIDR {
            hasHadIDR = true
            brokenSince = nil
            askingSince = nil
        } else if published.isPicture {
            tellIfIgnored(now: now)
            if let brokenSince {
                // A picture with faults is better than one that stands still for good.
                guard hasHadIDR, now - brokenSince >= Self.keyFramePatience else { return requestKeyFrame(now: now) }
                self.brokenSince = nil
            }
        }
        publication.receiver.receive(published)
    }

    private mutating func tellIfIgnored(now: MonotonicTime) {
        guard let askingSince, now - askingSince >= Self.keyFramePatience else { return }
        self.askingSince = nil
        guard !hasToldIgnored else { return }
        hasToldIgnored = true
        publication.receiver.keyFrameRequestsIgnored()
    }

    // MARK: Sending

    private mutating func sendReport(
        _ ssrc: SSRC, now: MonotonicTime, _ protector: SRTPSession, _ send: ([UInt8]) -> Bool
    ) {
        guard let reception = statistics.report(ssrc: ssrc, now: now) else { return }
        self.send(ReceiverReport(ssrc: ownSSRC, receptionReports: [reception]), nil, protector, send)
    }

    /// Sends `report`, and `feedback` behind it: not all publishers take feedback that comes alone.
    private mutating func send(
        _ report: ReceiverReport, _ feedback: RTCPPacket?, _ protector: SRTPSession, _ send: ([UInt8]) -> Bool
    ) {
        outgoing.removeAll(keepingCapacity: true)
        report.write(into: &outgoing)
        SourceDescription(ssrc: ownSSRC, canonicalName: canonicalName).write(into: &outgoing)
        feedback?.write(into: &outgoing)
        guard (try? protector.protectRTCP(&outgoing)) != nil else { return }
        // Lost with a full socket, it is asked for again.
        _ = send(outgoing)
    }

    private mutating func schedule() {
        deadline = min(buffer.deadline, ssrc == nil ? .distantFuture : reports.deadline)
        if askingSince != nil, ssrc != nil {
            deadline = min(deadline, askedAt.map { $0 + Self.askingInterval } ?? .zero)
        }
    }
}
