public import MediaTypes
import RoomConnections

/// A coded frame of a track.
public struct RoomFrame: Sendable {
    /// The frame. Its capture time is on this machine's CLOCK_MONOTONIC, less the shortest time that a frame took from
    /// the host; nil if it isn't known. A key frame has its format.
    public let coded: CodedFrame
    /// Its codec.
    public let codec: TrackFormat.Codec
    /// When its last packet arrived, on this machine's CLOCK_MONOTONIC.
    public let arrival: MonotonicTime
    /// Counts the frames that arrived for the reader. A gap means that the reader was too slow, and has lost these; the
    /// frame after it is a key frame.
    public let number: UInt64

    init(_ frame: ReceivedFrame, number: UInt64) {
        coded = frame.coded
        codec = frame.codec
        arrival = frame.arrival
        self.number = number
    }
}

/// The coded frames of a track's pictures, or the packets of its sound. Each iterator is a reader of its own.
public struct RoomFrames: AsyncSequence, Sendable {
    let track: String
    let kind: TrackFormat.Kind
    let room: RoomClient

    public func makeAsyncIterator() -> Iterator { Iterator(RoomReader(track, kind, room)) }

    /// Reads a track, frame by frame.
    public struct Iterator: AsyncIteratorProtocol {
        let reader: RoomReader
        private var wakes: AsyncStream<Void>.Iterator

        init(_ reader: RoomReader) {
            self.reader = reader
            wakes = reader.queue.wakes.makeAsyncIterator()
        }

        /// The next frame; nil once the track has ended, the client has left its room, or the task is cancelled.
        public mutating func next() async -> RoomFrame? {
            while !Task.isCancelled {
                switch reader.queue.next() {
                case .frame(let frame): return frame
                case .finished: return nil
                case .nothing(let needsKeyFrame):
                    if needsKeyFrame { reader.requestKeyFrame() }
                    if await wakes.next() == nil { return nil }
                }
            }
            return nil
        }
    }
}

/// A reader of a track, as long as it lives.
final class RoomReader: Sendable {
    let queue: FrameQueue
    private let room: RoomClient
    private let id: UInt64?

    init(_ track: String, _ kind: TrackFormat.Kind, _ room: RoomClient) {
        queue = FrameQueue(track: track, kind: kind)
        self.room = room
        id = room.engine.add(queue)
    }

    deinit { if let id { room.engine.removeReader(id) } }

    /// Asks for a key frame, without which the reader can't go on.
    func requestKeyFrame() {
        if queue.kind == .video { room.engine.requestKeyFrame(of: queue.track) }
    }
}
