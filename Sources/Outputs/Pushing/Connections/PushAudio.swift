import AudioCoding
import AudioConversion
import MediaFiles
import MediaTypes
import Opus
import OutputSettings
import TrackHub

/// The sound of a connection: a track's packets become a stream without gaps, of Opus as it is or of AAC.
///
/// Belongs to the connection's thread, which decodes and encodes.
struct PushAudio {
    /// A packet of the stream.
    struct Packet {
        let bytes: [UInt8]
        /// From the origin of the track's timeline.
        let time: Interval
        let duration: Interval
    }

    /// Nil if Opus is passed on.
    private let transcoder: AudioTranscoder?
    private var continuity = ContinuousAudio(from: 0)
    /// Where the stream begins on the track's timeline.
    private var start = Interval.zero

    /// AAC as `settings` say; nil passes Opus on.
    init(_ settings: AudioSettings?) throws(AudioCodingError) {
        transcoder = if let settings { try AudioTranscoder(settings) } else { nil }
    }

    /// The stream as a file describes it.
    var track: AudioTrack { transcoder?.track ?? AudioTrack(codec: .opus, channelCount: 2) }

    /// When silence is due if no packet comes, on the track's timeline.
    var due: Interval { ClockRate.audio.interval(of: continuity.due + 1) }

    /// Begins at this point of the track's timeline. Called once, before all that follows.
    mutating func begin(at point: Interval) {
        let ticks = ClockRate.audio.ticks(in: point)
        continuity = ContinuousAudio(from: ticks)
        start = ClockRate.audio.interval(of: ticks)
    }

    /// Takes a packet of the track, which came at `arrival` on the track's timeline. Returns what is to be sent.
    mutating func take(_ frame: TrackFrame, arrival: Interval) throws(AudioCodingError) -> [Packet] {
        guard let unit = frame.coded.units.first, let packet = OpusPacket(frame.coded.bytes[unit]) else { return [] }
        let pieces = continuity.take(
            at: frame.time.ticks, length: ClockRate.audio.ticks(in: packet.duration),
            arrival: ClockRate.audio.ticks(in: arrival))
        var packets: [Packet] = []
        for piece in pieces {
            switch piece.content {
            case .packet: packets += try make(frame.coded.bytes[unit], at: piece.time, length: piece.length)
            case .concealment where transcoder != nil: packets += try make(nil, at: piece.time, length: piece.length)
            case .concealment, .silence: packets += try silence(at: piece.time, length: piece.length)
            }
        }
        return packets
    }

    /// The silence up to `now` on the track's timeline, as far as no packet is still expected.
    mutating func silence(until now: Interval) throws(AudioCodingError) -> [Packet] {
        guard let piece = continuity.silence(until: ClockRate.audio.ticks(in: now)) else { return [] }
        return try silence(at: piece.time, length: piece.length)
    }

    /// Silence is Opus packets too: decoded behind what was heard last, they begin without a click.
    private func silence(at time: Int64, length: Int64) throws(AudioCodingError) -> [Packet] {
        let step = ClockRate.audio.ticks(in: OpusPacket.silentFrame)
        // Only what is decoded can be cut. Of a packet that is passed on, less than a frame is left out instead.
        let rounding = transcoder == nil ? 0 : step - 1
        var packets: [Packet] = []
        var (place, rest) = (time, length)
        while true {
            let count = min((rest + rounding) / step, Int64(OpusPacket.silentFrameLimit))
            guard count > 0 else { return packets }
            let part = min(rest, count * step)
            packets += try make(OpusPacket.silence(frameCount: Int(count))[...], at: place, length: part)
            (place, rest) = (place + part, rest - part)
        }
    }

    /// What becomes of a packet of Opus, or of a lost one, of which `length` samples are heard.
    private func make(
        _ packet: ArraySlice<UInt8>?, at time: Int64, length: Int64
    ) throws(AudioCodingError) -> [Packet] {
        guard let transcoder else {
            let duration = ClockRate.audio.interval(of: length)
            return [Packet(bytes: Array(packet ?? []), time: ClockRate.audio.interval(of: time), duration: duration)]
        }
        let frames = try transcoder.encode(packet, length: Int(length))
        // A decoder does without what is before the first sample.
        return frames.filter { $0.time >= 0 }.map {
            Packet(
                bytes: $0.bytes, time: start + transcoder.clockRate.interval(of: $0.time),
                duration: transcoder.clockRate.interval(of: Int64(AACEncoder.frameCount)))
        }
    }
}

/// Makes AAC from Opus packets.
private struct AudioTranscoder {
    let clockRate: ClockRate
    let track: AudioTrack
    private let decoder: OpusDecoder
    private let encoder: AACEncoder

    init(_ settings: AudioSettings) throws(AudioCodingError) {
        decoder = try OpusDecoder(channelCount: settings.channelCount)
        encoder = try AACEncoder(
            from: SampleLayout(rate: AudioSamples.rate, channelCount: settings.channelCount),
            to: SampleLayout(rate: settings.sampleRate, channelCount: settings.channelCount),
            bitRate: settings.bitRate)
        clockRate = ClockRate(hertz: UInt32(clamping: settings.sampleRate))
        let codec = AudioTrack.Codec.aac(
            configuration: encoder.configuration, rate: settings.sampleRate, bitRate: settings.bitRate)
        track = AudioTrack(codec: codec, channelCount: settings.channelCount)
    }

    /// Decodes a packet, or conceals one that is lost or damaged, and encodes exactly `length` samples of each channel.
    func encode(_ packet: ArraySlice<UInt8>?, length: Int) throws(AudioCodingError) -> [AACFrame] {
        var frames: [AACFrame] = []
        var next = packet
        var rest = length
        while rest > 0 {
            let samples = if let whole = try? decoder.decode(next) { whole } else { try decoder.decode(nil) }
            next = nil
            let taken = min(rest, samples.count / decoder.channelCount)
            frames += try encoder.encode(UnsafeBufferPointer(rebasing: samples.prefix(taken * decoder.channelCount)))
            rest -= taken
        }
        return frames
    }
}

extension MediaContainer {
    /// Whether there is sound, of silence, where the track has none. A stream of Flash Video never says that all its
    /// streams are there: with pictures alone, FFmpeg looks for sound in the first 150 pictures.
    var needsSound: Bool { self == .flash }

    /// Whether Opus goes out as it is. Flash Video takes AAC alone, and for HLS Apple's players do.
    var keepsOpus: Bool {
        switch self {
        case .flash, .hls: false
        case .mp4, .matroska, .transportStream, .fragmentedMP4, .clusteredMatroska, .rtsp: true
        }
    }
}
