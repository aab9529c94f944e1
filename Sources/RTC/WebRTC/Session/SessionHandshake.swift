import MediaTypes
import STUN
import SecureTransport

/// A session's DTLS handshake, and the round-trip time that it reveals.
///
/// Sans-IO. Belongs to the media thread.
struct SessionHandshake {
    private static let maxEstimate = Interval.milliseconds(100)
    /// The longest datagram that is kept for the start. A ClientHello fits a path's datagrams.
    private static let maxEarlyByteCount = 1500

    /// The round-trip time measured during the handshake. The peer answers a flight at once, so this is a good first
    /// estimate, with which a lost packet of the first picture is repaired quickly. RTCP reports improve the estimate
    /// later.
    ///
    /// If a flight is lost, the measurement shows a timer, not the path (Karn's rule, RFC 6298 section 3). So nothing
    /// is measured once a flight was repeated, and a measurement longer than the default estimate is discarded.
    private(set) var roundTripTime: Interval?

    private var transport: DTLSTransport?
    /// The last datagram that came before the start, and where from.
    private var early: (datagram: [UInt8], address: TransportAddress)?
    /// Our first flight as client; nil before it is sent, and empty once the peer has answered or it has been repeated.
    private var firstFlight: [[UInt8]]?
    private var repeatedFlight: [[UInt8]] = []
    private var isLastFlightRepeated = false
    private var flightSentAt: MonotonicTime?
    /// Whether a flight has been repeated: an answer may then be to either, and is soon there.
    private var hasRepeated = false
    /// The time at which the last datagram came from the address of the session's path.
    private var lastHeardOnPath: MonotonicTime?

    /// Whether DTLS has nothing left to do. It may have keys before that.
    var isComplete: Bool { transport?.isComplete ?? false }
    /// The state of DTLS; nil before ``start(_:context:provedAddress:now:)``.
    var state: DTLSTransport.State? { transport?.state }

    /// Keeps a datagram that came before the start: a full ICE agent may begin DTLS once we have answered its check,
    /// just before it answers ours. It would begin again only after a second.
    mutating func keep(_ datagram: ArraySlice<UInt8>, from address: TransportAddress) {
        if datagram.count <= Self.maxEarlyByteCount { early = (Array(datagram), address) }
    }

    /// Starts DTLS. As server, handles the kept datagram, if it came from `provedAddress`, where the peer has answered.
    mutating func start(
        _ parameters: SessionParameters, context: DTLSContext, provedAddress: TransportAddress?, now: MonotonicTime
    ) throws(SecureTransportError) {
        defer { early = nil }
        let transport = try DTLSTransport(
            context: context, role: parameters.isDTLSClient ? .client : .server,
            expectedFingerprint: parameters.remoteFingerprint)
        self.transport = transport
        try transport.start(now: now)
        if !parameters.isDTLSClient, let early, early.address == provedAddress {
            try handle(early.datagram[...], isOnPath: true, arrival: now, now: now)
        }
    }

    /// Handles a datagram that arrived at `arrival`.
    mutating func handle(
        _ datagram: ArraySlice<UInt8>, isOnPath: Bool, arrival: MonotonicTime, now: MonotonicTime
    ) throws(SecureTransportError) {
        if isOnPath { lastHeardOnPath = now }
        firstFlight = []
        // What arrived before our flight was sent is no answer to it, such as a ClientHello that came twice.
        if let sentAt = flightSentAt, arrival >= sentAt {
            flightSentAt = nil
            let answered = arrival - sentAt
            if answered < Self.maxEstimate { roundTripTime = min(answered, roundTripTime ?? answered) }
        }
        try transport?.handle(datagram: datagram, now: now)
    }

    /// Until when the address of the session's path is reserved, because a datagram came from there.
    var reservedUntil: MonotonicTime { lastHeardOnPath.map { $0 + SessionICE.addressReservation } ?? .zero }

    /// The time of the handshake's next timeout.
    func deadline(now: MonotonicTime) -> MonotonicTime { transport?.nextTimeout(now: now) ?? .distantFuture }

    mutating func handleTimeout(now: MonotonicTime) throws(SecureTransportError) {
        if case .connected = state { isLastFlightRepeated = true }
        hasRepeated = true
        try transport?.handleTimeout(now: now)
    }

    /// Whether the handshake is complete after our last flight was lost, and with it what was sent behind it: the peer
    /// couldn't decrypt that. True once.
    mutating func takeLastFlightLoss() -> Bool {
        guard isComplete, isLastFlightRepeated else { return false }
        isLastFlightRepeated = false
        return true
    }

    /// The datagrams to send now.
    mutating func takeFlight(now: MonotonicTime) -> [[UInt8]] {
        let flight = repeatedFlight + (transport?.takeOutgoing() ?? [])
        repeatedFlight = []
        if !flight.isEmpty {
            firstFlight = firstFlight ?? flight
            flightSentAt = hasRepeated ? nil : now
        }
        return flight
    }

    /// Sends our first flight again, byte for byte, unless the peer has answered it: it may have dropped it because its
    /// ICE wasn't ready. If it hasn't, it takes this for a datagram that the network has doubled.
    mutating func repeatFirstFlight() {
        guard let flight = firstFlight, !flight.isEmpty else { return }
        firstFlight = []
        repeatedFlight = flight
        hasRepeated = true
    }

    /// Tells the peer that the session is over.
    func close() { transport?.close() }
}
