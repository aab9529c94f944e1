/// SRTP and SRTCP for one peer in both directions (RFC 3711, RFC 7714). Not thread-safe.
///
/// Packets are modified in place. The caller's buffer needs room for the bytes that protection adds (`rtpRoom`,
/// `rtcpRoom`); with that capacity reserved, nothing is allocated per packet.
///
/// A packet may be protected again to be retransmitted (an answer to a NACK), which gives the same bytes. That is safe
/// only if the packet is identical to the last bit. Two different packets with the same SSRC and sequence number would
/// be encrypted with the same key stream, which reveals their difference, and under GCM even the authentication key
/// (RFC 7714 section 8.1, RFC 3711 section 9.1). A sender that changes a header extension for the retransmission must
/// keep and send the protected packet instead, or use RTX.
public final class SRTPSession {
    /// The maximum number of bytes that `protect` adds: GCM's tag.
    public static let rtpRoom = 16
    /// The maximum number of bytes that `protectRTCP` adds: GCM's tag and the SRTCP index.
    public static let rtcpRoom = 20

    /// The maximum number of SSRCs that a peer may send with. The state of each is kept until the session ends.
    private static let sourceLimit = 64
    private static let maxPacket = 65_535
    /// The number of bytes at the start of an RTCP packet that are not encrypted.
    private static let clearControlCount = 8
    /// The E bit of an SRTCP packet's trailer, which says that the packet is encrypted.
    private static let encryptionFlag: UInt32 = 1 << 31

    private let outbound: PacketCipher
    private let outboundControl: PacketCipher
    private let inbound: PacketCipher
    private let inboundControl: PacketCipher
    // Not checked at run time for overlapping accesses, which would take 3 % of the time of a thread with many viewers.
    @exclusivity(unchecked) private var sent: [SentSource] = []
    @exclusivity(unchecked) private var received: [ReceivedSource] = []

    /// Creates a session with the keys that a handshake negotiated.
    ///
    /// - Throws: `wrongKeyLength`, `opensslFailed`.
    public init(keys: SRTPKeys) throws(SecureTransportError) {
        outbound = try Self.makeCipher(keys.local, keys.profile, .rtp, .seal)
        outboundControl = try Self.makeCipher(keys.local, keys.profile, .rtcp, .seal)
        inbound = try Self.makeCipher(keys.remote, keys.profile, .rtp, .open)
        inboundControl = try Self.makeCipher(keys.remote, keys.profile, .rtcp, .open)
    }

    private static func makeCipher(
        _ master: SRTPMasterKey, _ profile: SRTPProfile, _ use: SRTPKeyDerivation.Use,
        _ direction: PacketCipher.Direction
    ) throws(SecureTransportError) -> PacketCipher {
        var keys = try SRTPKeyDerivation.sessionKeys(of: master, profile, for: use)
        defer { keys.wipe() }
        return try PacketCipher(keys, direction)
    }

    // MARK: Sending

    /// Turns an RTP packet into an SRTP packet.
    ///
    /// - Throws: `malformedPacket`; `replayed` for a sequence number 8192 or more behind the newest one sent;
    ///   `keyLifetimeReached`. The content of `packet` is then undefined.
    public func protect(_ packet: inout [UInt8]) throws(SecureTransportError) {
        try transform(&packet, room: Self.rtpRoom) { (buffer, count) throws(SecureTransportError) in
            try protect(buffer, count: count)
        }
    }

    /// Turns an RTP packet of `count` bytes at the start of `buffer` into an SRTP packet and returns its length.
    ///
    /// This is for packets in memory that is not an array, for example one of several in a buffer.
    ///
    /// - Throws: the same errors as for an array, and `malformedPacket` if `buffer` has less room than `count` +
    ///   `rtpRoom`.
    public func protect(
        _ buffer: UnsafeMutableRawBufferPointer, count: Int
    ) throws(SecureTransportError) -> Int {
        guard let start = buffer.baseAddress, count <= Self.maxPacket, buffer.count - count >= Self.rtpRoom,
            let header = RTPHeader(at: UnsafeRawPointer(start), count: count)
        else { throw .malformedPacket(length: count) }
        let source = sentSource(header.ssrc)
        let index = try sent[source].index(of: header.sequenceNumber)
        return try outbound.seal(
            PacketCipher.Packet(clear: header.count, count: count, ssrc: header.ssrc, index: index), at: start)
    }

    /// Turns an RTCP packet, which may be a compound one, into an SRTCP packet.
    ///
    /// - Throws: `malformedPacket`, `keyLifetimeReached`.
    public func protectRTCP(_ packet: inout [UInt8]) throws(SecureTransportError) {
        try transform(&packet, room: Self.rtcpRoom) { (buffer, count) throws(SecureTransportError) in
            guard let start = buffer.baseAddress, count >= Self.clearControlCount, count <= Self.maxPacket else {
                throw .malformedPacket(length: count)
            }
            let ssrc = UnsafeRawPointer(start).bigEndianUInt32(at: 4)
            let source = sentSource(ssrc)
            let index = try sent[source].nextControlIndex()
            return try outboundControl.seal(
                PacketCipher.Packet(
                    clear: Self.clearControlCount, count: count, ssrc: ssrc, index: UInt64(index),
                    trailer: Self.encryptionFlag | index),
                at: start)
        }
    }

    private func sentSource(_ ssrc: UInt32) -> Int {
        if let known = sent.firstIndex(where: { $0.ssrc == ssrc }) { return known }
        sent.append(SentSource(ssrc: ssrc))
        return sent.count - 1
    }

    // MARK: Receiving

    /// Turns an SRTP packet into an RTP packet.
    ///
    /// - Throws: `authenticationFailed`, `replayed`, `malformedPacket`, `tooManySources`, `keyLifetimeReached`. The
    ///   content of `packet` is then undefined.
    public func unprotect(_ packet: inout [UInt8]) throws(SecureTransportError) {
        try transform(&packet, room: 0) { (buffer, length) throws(SecureTransportError) in
            let count = length - inbound.tagCount
            guard let start = buffer.baseAddress, length <= Self.maxPacket,
                let header = RTPHeader(at: UnsafeRawPointer(start), count: count)
            else { throw .malformedPacket(length: length) }
            let place = try place(of: header.ssrc)
            var source = place < received.count ? received[place] : ReceivedSource(ssrc: header.ssrc)
            let index = try source.index(of: header.sequenceNumber)
            try inbound.open(
                PacketCipher.Packet(clear: header.count, count: count, ssrc: header.ssrc, index: index), at: start)
            source.packets.note(index)
            keep(source, at: place)
            return count
        }
    }

    /// Turns an SRTCP packet into an RTCP packet.
    ///
    /// A packet that is marked as authenticated but not encrypted is accepted (RFC 3711 section 3.4).
    ///
    /// - Throws: the same errors as `unprotect`.
    public func unprotectRTCP(_ packet: inout [UInt8]) throws(SecureTransportError) {
        try transform(&packet, room: 0) { (buffer, length) throws(SecureTransportError) in
            let count = length - inboundControl.tagCount - PacketCipher.trailerCount
            guard let start = buffer.baseAddress, count >= Self.clearControlCount, length <= Self.maxPacket else {
                throw .malformedPacket(length: length)
            }
            let ssrc = UnsafeRawPointer(start).bigEndianUInt32(at: 4)
            let place = try place(of: ssrc)
            var source = place < received.count ? received[place] : ReceivedSource(ssrc: ssrc)
            let trailer = inboundControl.trailer(ofPacketWith: count, at: start)
            let index = UInt64(trailer & ~Self.encryptionFlag)
            guard source.controlPackets.admits(index) else { throw .replayed }
            let isEnciphered = trailer & Self.encryptionFlag != 0
            try inboundControl.open(
                PacketCipher.Packet(
                    clear: isEnciphered ? Self.clearControlCount : count, count: count, ssrc: ssrc, index: index,
                    trailer: trailer),
                at: start)
            source.controlPackets.note(index)
            keep(source, at: place)
            return count
        }
    }

    /// The position of an SSRC's state in `received`, or the position that it will get if a packet of the SSRC proves
    /// authentic.
    private func place(of ssrc: UInt32) throws(SecureTransportError) -> Int {
        if let known = received.firstIndex(where: { $0.ssrc == ssrc }) { return known }
        guard received.count < Self.sourceLimit else { throw .tooManySources(limit: Self.sourceLimit) }
        return received.count
    }

    private func keep(_ source: ReceivedSource, at place: Int) {
        if place < received.count {
            received[place] = source
        } else {
            received.append(source)
        }
    }

    // MARK: Arrays

    /// Calls `operation` with the packet's memory and `room` bytes after it, then truncates the packet to the returned
    /// length.
    private func transform(
        _ packet: inout [UInt8], room: Int,
        _ operation: (UnsafeMutableRawBufferPointer, Int) throws(SecureTransportError) -> Int
    ) throws(SecureTransportError) {
        let count = packet.count
        packet.append(contentsOf: repeatElement(0, count: room))
        let written = try packet.withUnsafeMutableBufferPointer { (buffer) throws(SecureTransportError) in
            try operation(UnsafeMutableRawBufferPointer(buffer), count)
        }
        packet.removeLast(packet.count - written)
    }
}
