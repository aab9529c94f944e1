/// The state of an SSRC that we send with.
struct SentSource {
    /// A sent packet that is at least this much older than the newest one can't be sent again.
    static let window: UInt64 = 8_192
    /// The first invalid SRTCP index: one key protects no more packets than this (RFC 3711 section 9.2).
    static let controlIndexLimit: UInt32 = 1 << 31

    let ssrc: UInt32
    /// The highest index of an RTP packet sent.
    var newest: UInt64?
    /// The index of the latest RTCP packet. The first one is 1, as in libsrtp.
    var controlIndex: UInt32 = 0

    /// The index of an RTP packet to be sent, possibly again.
    ///
    /// - Throws: `replayed`, `keyLifetimeReached`.
    mutating func index(of sequenceNumber: UInt16) throws(SecureTransportError) -> UInt64 {
        let index = PacketIndex.estimate(sequenceNumber, newest: newest)
        guard index < PacketIndex.limit else { throw .keyLifetimeReached }
        if let newest, index <= newest {
            guard newest - index < Self.window else { throw .replayed }
        } else {
            newest = index
        }
        return index
    }

    /// The index for the next RTCP packet.
    ///
    /// - Throws: `keyLifetimeReached`.
    mutating func nextControlIndex() throws(SecureTransportError) -> UInt32 {
        guard controlIndex + 1 < Self.controlIndexLimit else { throw .keyLifetimeReached }
        controlIndex += 1
        return controlIndex
    }
}

/// The state of an SSRC that the peer sends with.
struct ReceivedSource {
    let ssrc: UInt32
    var packets = ReplayWindow()
    var controlPackets = ReplayWindow()

    /// The most likely index of a received RTP packet.
    ///
    /// - Throws: `replayed`, `keyLifetimeReached`.
    func index(of sequenceNumber: UInt16) throws(SecureTransportError) -> UInt64 {
        let index = PacketIndex.estimate(sequenceNumber, newest: packets.newest)
        guard index < PacketIndex.limit else { throw .keyLifetimeReached }
        guard packets.admits(index) else { throw .replayed }
        return index
    }
}
