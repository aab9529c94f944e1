import AudioCoding
import AudioConversion
import MediaTypes
import TrackHub

/// A track's sound as packets of PCMU (RFC 3551 section 4.5.14), made once for all players: the first that takes an
/// Opus packet has it decoded, and the others get what it became.
final class PCMUAudio {
    /// 20 ms of mono at 8 kHz, one byte a sample.
    struct Packet {
        let bytes: [UInt8]
        /// When its first sample is heard, on the track's clock at 8 kHz.
        let time: MediaTime
    }

    /// The samples of a packet, and their bytes.
    static let sampleCount = 160
    /// The ticks of the track's clock for each sample.
    private static let ticks = Int64(ClockRate.audio.hertz) / Int64(PCMUEncoder.rate)
    /// So many packets are remembered for the players that are late: more than 2 s.
    private static let memory = 128

    private let decoder: OpusDecoder
    /// What has been made, each with the number of the packet of Opus that completed it.
    private var made: [(number: UInt64, packet: Packet)] = []
    private var last: UInt64?
    /// Where the sound so far ends, on the track's clock; nil if what comes next doesn't go on from it.
    private var end: MediaTime?
    /// The samples that don't fill a packet yet, and when the first of them is heard.
    private var bytes: [UInt8] = []
    private var time = MediaTime(ticks: 0)

    /// Nil without memory.
    init?() {
        guard let decoder = try? OpusDecoder(channelCount: 1, rate: PCMUEncoder.rate) else { return nil }
        self.decoder = decoder
    }

    /// The packets that a packet of Opus completes. None if it is older than those that are remembered, or damaged.
    func packets(of frame: TrackFrame) -> [Packet] {
        if let last {
            guard frame.number > last else {
                return made.filter { $0.number == frame.number }.map(\.packet)
            }
            // No player has taken those between.
            if frame.number != last + 1 { end = nil }
        }
        last = frame.number
        let packets = transcode(frame)
        for packet in packets { made.append((frame.number, packet)) }
        made.removeFirst(max(0, made.count - Self.memory))
        return packets
    }

    private func transcode(_ frame: TrackFrame) -> [Packet] {
        guard let unit = frame.coded.units.first,
            let samples = try? decoder.decode(frame.coded.bytes[unit])
        else {
            end = nil
            return []
        }
        if end != frame.time {
            // The rest of a packet would come much too late, and is as good as silent.
            bytes = []
            time = MediaTime(ticks: frame.time.ticks / Self.ticks)
        }
        end = frame.time + Int64(samples.count) * Self.ticks
        PCMUEncoder.encode(samples, into: &bytes)
        var packets: [Packet] = []
        while bytes.count >= Self.sampleCount {
            packets.append(Packet(bytes: Array(bytes.prefix(Self.sampleCount)), time: time))
            bytes.removeFirst(Self.sampleCount)
            time = time + Int64(Self.sampleCount)
        }
        return packets
    }
}
