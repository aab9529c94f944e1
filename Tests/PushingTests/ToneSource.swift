import AudioCoding
import MediaTypes
import TestSupport
import TrackHub

@testable import ScreenRelayKit

/// The sound of a track, in packets of 20 ms as capture sends them.
final class ToneSource {
    private let hub: TrackHub
    private let source = PublishedAudio()
    private let encoder: OpusEncoder
    /// How long a packet is.
    private let length = ClockRate.audio.interval(of: Int64(OpusEncoder.frameCount))
    /// Where the next packet begins.
    private(set) var next = now()
    /// All packets so far.
    private(set) var packets: [[UInt8]] = []

    /// Becomes the source of the track's sound.
    init(_ track: HostedTrack) throws {
        hub = track.sound
        encoder = try OpusEncoder(channelCount: 2, bitRate: BitRate(bitsPerSecond: 96_000))
        guard hub.attach(source, now: now()) else { throw DeadlineMissed(what: "a track without sound") }
    }

    /// Delivers what has been captured since the last call: a tone of 1 kHz, or silence that is sent all the same.
    func write(amplitude: Float) throws {
        let delay = ClockRate.audio.interval(of: Int64(encoder.lookahead))
        while next + length <= now() {
            // Twenty periods.
            let samples = tone(1000, seconds: length.seconds, amplitude: amplitude, channelCount: 2)
            let packet = Array(try encoder.encode(samples))
            packets.append(packet)
            let frame = CodedFrame(
                bytes: [0, 0, 0, 1] + packet, units: [4..<packet.count + 4], isRandomAccess: true,
                captureTime: next - delay, format: TrackFormat(codec: .opus), attachment: .lasts(length))
            hub.deliver(frame, from: source, epoch: 1, arrival: now())
            next = next + length
        }
    }

    /// Sends nothing of what has been captured since the last call.
    func skip() {
        while next + length <= now() { next = next + length }
    }
}
