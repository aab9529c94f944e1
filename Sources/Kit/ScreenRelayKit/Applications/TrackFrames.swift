import Clocks
public import MediaTypes
import Synchronization
public import TrackHub
import VideoDecoding

/// The coded frames of a track, from the last random access frame on: for an application that records them, sends them
/// elsewhere or measures them. An application gets the same frames as every viewer.
///
/// Each iterator counts as a viewer, which wakes a source that sleeps, and has a bounded queue of its own. An
/// application that is too slow loses whole frames up to the next random access frame, which shows as a gap in
/// `TrackFrame.number`; other readers are not affected. The sequence ends when its task is cancelled. While the track
/// has no source, the iterator waits for the next one.
public struct TrackFrames: AsyncSequence, Sendable {
    let hub: TrackHub

    public func makeAsyncIterator() -> Iterator { Iterator(hub) }

    /// Reads a track, frame by frame.
    public struct Iterator: AsyncIteratorProtocol {
        private let subscription: FrameSubscription
        private var wakes: AsyncStream<Void>.Iterator
        private var frames: ArraySlice<TrackFrame> = []

        init(_ hub: TrackHub) {
            let (stream, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            wakes = stream.makeAsyncIterator()
            subscription = FrameSubscription(hub) { wake.yield() }
        }

        /// The next frame; nil once the task is cancelled.
        public mutating func next() async -> TrackFrame? {
            while frames.isEmpty {
                frames = subscription.reader.take()[...]
                if frames.isEmpty, await wakes.next() == nil { return nil }
            }
            return frames.popFirst()
        }
    }
}

/// The decoded pictures of a track, for an application that looks at them. Decoding happens in the task that iterates.
///
/// A frame that can't be decoded is left out, and so are those that depend on it: a key frame is requested, and the
/// pictures go on from there.
public struct TrackPictures: AsyncSequence, Sendable {
    let hub: TrackHub

    public func makeAsyncIterator() -> Iterator {
        Iterator(hub: hub, frames: TrackFrames(hub: hub).makeAsyncIterator())
    }

    /// Decodes a track, picture by picture.
    public struct Iterator: AsyncIteratorProtocol {
        let hub: TrackHub
        var frames: TrackFrames.Iterator
        private var decoder: (codec: TrackFormat.Codec, any FrameDecoder)?
        private var gate = RandomAccessGate(isClosed: true)
        private var lastNumber: UInt64?
        private var pictures: ArraySlice<I420Picture> = []

        init(hub: TrackHub, frames: TrackFrames.Iterator) {
            self.hub = hub
            self.frames = frames
        }

        /// The next picture; nil once the task is cancelled.
        ///
        /// - Throws: `VideoDecodingError` if there is no decoder.
        public mutating func next() async throws -> I420Picture? {
            while pictures.isEmpty {
                guard let frame = await frames.next() else { return nil }
                if let lastNumber, frame.number != lastNumber + 1 { gate.close() }
                lastNumber = frame.number
                guard gate.passes(isRandomAccess: frame.coded.isRandomAccess) else { continue }
                try decode(frame)
            }
            return pictures.popFirst()
        }

        private mutating func decode(_ frame: TrackFrame) throws {
            if decoder?.codec != frame.format.codec {
                decoder = (frame.format.codec, try frame.format.codec.makeDecoder())
            }
            do throws(VideoDecodingError) {
                pictures = try decoder?.1.decode(frame.coded, copying: true)[...] ?? []
            } catch {
                gate.close()
                hub.requestKeyFrame(now: MonotonicTime.now())
            }
        }
    }
}

/// A reader of a hub that counts as a viewer as long as it lives.
final class FrameSubscription: Sendable {
    let reader: TrackReader
    private let hub: TrackHub

    init(_ hub: TrackHub, wake: @escaping @Sendable () -> Void) {
        self.hub = hub
        hub.viewerCame(decoding: .yuv444, now: MonotonicTime.now())
        reader = hub.subscribe(wake: wake)
    }

    /// Whether the track has not forgotten a frame.
    func shows(_ frame: TrackFrame) -> Bool { frame.number >= hub.firstShown() }

    deinit {
        hub.viewerLeft(decoding: .yuv444, now: MonotonicTime.now())
    }
}
