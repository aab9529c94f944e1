public import MediaTypes

extension CodedFrame {
    /// A frame of one packet of Opus; nil if its first bytes aren't those of one.
    ///
    /// The capture time is that of the first sample that a decoder plays, on this machine's CLOCK_MONOTONIC, or nil if
    /// it isn't known.
    public init?(opus packet: [UInt8], captureTime: MonotonicTime?) {
        guard let facts = OpusPacket(packet[...]) else { return nil }
        self.init(
            bytes: [0, 0, 0, 1] + packet, units: [4..<4 + packet.count], isRandomAccess: true,
            captureTime: captureTime, format: TrackFormat(codec: .opus), attachment: .lasts(facts.duration))
    }
}
