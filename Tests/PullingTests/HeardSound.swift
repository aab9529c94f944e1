import AudioCoding
import MediaTypes
import ScreenRelayKit
import TestSupport
import TrackHub

/// What a listener of a track hears: its packets, decoded one after another in mono.
struct HeardSound {
    /// The packets so far.
    private(set) var packets: [[UInt8]] = []
    /// Their samples, without the gaps between them.
    private(set) var samples: [Float] = []
    /// Where the first loud sample is on the track's timeline, in seconds.
    private(set) var onset: Double?

    private let decoder: OpusDecoder
    private let subscription: TrackSubscription

    init(_ track: HostedTrack) throws {
        decoder = try OpusDecoder(channelCount: 1)
        subscription = track.subscribeToSound {}
    }

    /// Takes what has come since the last call.
    mutating func take() throws {
        for frame in subscription.take() {
            let packet = Array(frame.coded.bytes.dropFirst(4))
            packets.append(packet)
            let decoded = Array(try decoder.decode(packet[...]))
            if onset == nil, let first = decoded.firstIndex(where: { abs($0) > 0.1 }) {
                onset = Double(frame.time.ticks + Int64(first)) / 48_000
            }
            samples += decoded
        }
    }

    /// Whether the half second from this sample on is a tone of 440 Hz, and hardly anything else.
    func isTone(from first: Int) -> Bool {
        guard first >= 0, first + 24_000 <= samples.count else { return false }
        let fit = ToneFit(440, in: Array(samples[first..<first + 24_000]))
        return fit.amplitude > 0.1 && fit.signalToNoise > 20
    }
}
