public import MediaTypes
import VideoDecoding

/// The decoded pictures of a track. Each iterator is a reader of its own.
///
/// A frame that can't be decoded is left out, and so are those that depend on it: a key frame is requested, and the
/// pictures go on from there.
public struct RoomPictures: AsyncSequence, Sendable {
    let frames: RoomFrames

    public func makeAsyncIterator() -> Iterator { Iterator(frames: frames.makeAsyncIterator()) }

    /// Decodes a track, picture by picture.
    public struct Iterator: AsyncIteratorProtocol {
        private var frames: RoomFrames.Iterator
        private var decoder: (codec: TrackFormat.Codec, any FrameDecoder)?
        private var pictures: ArraySlice<I420Picture> = []

        init(frames: RoomFrames.Iterator) { self.frames = frames }

        /// The next picture, with its capture time on this machine's CLOCK_MONOTONIC; nil once the track has ended, the
        /// client has left its room, or the task is cancelled.
        ///
        /// - Throws: `VideoDecodingError` if there is no decoder, or if the stream asks for more than it may.
        public mutating func next() async throws -> I420Picture? {
            while pictures.isEmpty {
                guard let frame = await frames.next() else { return nil }
                try decode(frame)
            }
            return pictures.popFirst()
        }

        private mutating func decode(_ frame: RoomFrame) throws(VideoDecodingError) {
            if decoder?.codec != frame.codec { decoder = (frame.codec, try frame.codec.makeDecoder()) }
            do throws(VideoDecodingError) {
                pictures = try decoder?.1.decode(frame.coded, copying: true)[...] ?? []
            } catch {
                guard error.wantsKeyFrame else { throw error }
                frames.reader.queue.closeGate()
            }
        }
    }
}
