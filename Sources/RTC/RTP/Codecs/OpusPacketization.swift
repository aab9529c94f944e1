import MediaTypes

/// Sends each packet of Opus as the payload of one RTP packet (RFC 7587 section 4.2). One that is too long for a
/// datagram, such as 20 ms at more than 455 kbit/s or 120 ms at more than 75, isn't sent.
struct OpusPacketizer: FramePacketizer {
    func packetize(_ frame: CodedFrame, at mediaTime: MediaTime, format: TrackFormat) -> PacketizedFrame {
        let units = frame.units.prefix(1).filter { $0.count <= RTPPayload.maxByteCount }
        let packets = units.map { RTPPayload.part(RTPPayload.Part($0)) }
        return PacketizedFrame(
            coded: frame, packets: packets, mediaTime: mediaTime, format: format,
            payloadByteCount: packets.reduce(0) { $0 + $1.byteCount })
    }
}

/// Takes a packet of Opus out of the RTP packet that it came in.
struct OpusDepacketizer: FrameDepacketizer {
    func contents(of payloads: [ArraySlice<UInt8>]) -> FrameContents? {
        guard payloads.count == 1, let payload = payloads.first, !payload.isEmpty else { return nil }
        return FrameContents(units: [[0, 0, 0, 1] + payload], isRandomAccess: true, hasMedia: true)
    }
}
