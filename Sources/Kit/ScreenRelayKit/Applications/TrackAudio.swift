import AudioCoding
public import MediaTypes
import TrackHub

/// The decoded sound of a track, for an application that looks into it or plays it. Decoding happens in the task that
/// iterates.
///
/// Each iterator counts as a listener, not as a viewer, and otherwise reads as ``TrackFrames`` does. Nothing comes
/// while the sound is silent, muted or has no source. A packet that can't be decoded is left out.
public struct TrackAudio: AsyncSequence, Sendable {
    /// The samples of one packet, mostly 20 ms.
    public struct Piece: Sendable {
        /// The samples.
        public let samples: AudioSamples
        /// Where the first of them is on the track's timeline, in 48,000ths of a second. It is where the piece before
        /// ends, unless the sound was silent in between, or the application too slow.
        public let time: MediaTime
        /// When the first of them was captured, on this machine's CLOCK_MONOTONIC; nil if that isn't known.
        public let captureTime: MonotonicTime?
    }

    let hub: TrackHub
    let channelCount: Int

    public func makeAsyncIterator() -> Iterator {
        Iterator(frames: TrackFrames(hub: hub).makeAsyncIterator(), channelCount: channelCount)
    }

    /// Decodes a track's sound, packet by packet.
    public struct Iterator: AsyncIteratorProtocol {
        private var frames: TrackFrames.Iterator
        private let channelCount: Int
        private var decoder: OpusDecoder?

        init(frames: TrackFrames.Iterator, channelCount: Int) {
            self.frames = frames
            self.channelCount = channelCount
        }

        /// The next piece; nil once the task is cancelled.
        ///
        /// - Throws: what libopus says if there are neither 1 nor 2 channels, or no memory is left.
        public mutating func next() async throws -> Piece? {
            while let frame = await frames.next() {
                let opus = try decoder ?? OpusDecoder(channelCount: channelCount)
                decoder = opus
                guard let packet = frame.coded.units.first,
                    let samples = try? opus.decode(frame.coded.bytes[packet])
                else { continue }
                return Piece(
                    samples: AudioSamples(channelCount: channelCount, samples: Array(samples)), time: frame.time,
                    captureTime: frame.coded.captureTime)
            }
            return nil
        }
    }
}
