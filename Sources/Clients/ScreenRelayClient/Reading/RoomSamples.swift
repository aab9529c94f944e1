import AudioCoding
public import MediaTypes

/// The decoded sound of a track. Each iterator is a reader of its own. Nothing comes while the track is silent or
/// muted, or has no sound. A packet that can't be decoded is left out.
public struct RoomSamples: AsyncSequence, Sendable {
    /// The samples of one packet, mostly 20 ms.
    public struct Piece: Sendable {
        /// The samples.
        public let samples: AudioSamples
        /// When the first of them was captured, on this machine's CLOCK_MONOTONIC; nil if that isn't known.
        public let captureTime: MonotonicTime?
    }

    let frames: RoomFrames
    let channelCount: Int

    public func makeAsyncIterator() -> Iterator {
        Iterator(frames: frames.makeAsyncIterator(), channelCount: channelCount)
    }

    /// Decodes a track's sound, packet by packet.
    public struct Iterator: AsyncIteratorProtocol {
        private var frames: RoomFrames.Iterator
        private let channelCount: Int
        private var decoder: OpusDecoder?

        init(frames: RoomFrames.Iterator, channelCount: Int) {
            self.frames = frames
            self.channelCount = channelCount
        }

        /// The next piece; nil once the track has ended, the client has left its room, or the task is cancelled.
        ///
        /// - Throws: libopus's error if there are neither 1 nor 2 channels, or no memory is left.
        public mutating func next() async throws -> Piece? {
            while let frame = await frames.next() {
                let opus = try decoder ?? OpusDecoder(channelCount: channelCount)
                decoder = opus
                guard let packet = frame.coded.units.first,
                    let samples = try? opus.decode(frame.coded.bytes[packet])
                else { continue }
                return Piece(
                    samples: AudioSamples(channelCount: channelCount, samples: Array(samples)),
                    captureTime: frame.coded.captureTime)
            }
            return nil
        }
    }
}
