import MediaTypes
import RTP
import SecureTransport

/// Reports to a publisher when its packets arrive, for its congestion control.
///
/// Sans-IO: time and the sink are arguments. Belongs to the media thread.
struct TransportReporter {
    private let extensionID: UInt8
    private let sender: SSRC
    private let canonicalName: String
    private let hasReducedSizeRTCP: Bool
    private let protector: SRTPSession
    private var arrivals: TransportArrivals
    private var outgoing: [UInt8] = []

    /// Reports on the packets of `publication` and of its session's other tracks; nil if they have no transport-wide
    /// numbers.
    init?(_ parameters: SessionParameters, _ publication: Publication, protector: SRTPSession, now: MonotonicTime) {
        guard let id = publication.transportNumberID else { return nil }
        extensionID = id
        sender = publication.ssrc
        canonicalName = parameters.canonicalName
        hasReducedSizeRTCP = publication.hasReducedSizeRTCP
        self.protector = protector
        arrivals = TransportArrivals(sender: publication.ssrc, now: now)
    }

    /// When ``advance(now:send:)`` must be called.
    var deadline: MonotonicTime { arrivals.deadline }

    /// Notes an authenticated packet of any stream, which arrived at `arrival`.
    mutating func handle(_ packet: RTPPacket, arrival: MonotonicTime, now: MonotonicTime) {
        guard let number = packet.transportNumber(extensionID) else { return }
        arrivals.note(number, of: packet.header.ssrc, arrival: arrival, now: now)
    }

    /// Sends the report that is due.
    mutating func advance(now: MonotonicTime, send: ([UInt8]) -> Bool) {
        guard let feedback = arrivals.report(now: now) else { return }
        outgoing.removeAll(keepingCapacity: true)
        if !hasReducedSizeRTCP {
            ReceiverReport(ssrc: sender).write(into: &outgoing)
            SourceDescription(ssrc: sender, canonicalName: canonicalName).write(into: &outgoing)
        }
        feedback.write(into: &outgoing)
        guard (try? protector.protectRTCP(&outgoing)) != nil else { return }
        // If this is lost on a full socket, the next report's count shows it.
        _ = send(outgoing)
    }
}
