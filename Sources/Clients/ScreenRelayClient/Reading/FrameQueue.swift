import MediaTypes
import RoomConnections
import Synchronization

/// The frames that wait for one reader of a track. If too many do, all are dropped, and so are those that follow up to
/// the next key frame.
final class FrameQueue: Sendable {
    /// How many frames may wait: a few seconds of pictures.
    static let limit = 256
    /// How many bytes they may have.
    static let byteLimit = 32 << 20

    /// What a reader gets when it asks for the next frame.
    enum Next {
        case frame(RoomFrame)
        /// No frame waits. If a key frame is needed to go on, it is for the reader to ask for it, once.
        case nothing(needsKeyFrame: Bool)
        case finished
    }

    private struct State {
        var frames: [RoomFrame] = []
        var byteCount = 0
        /// The number of frames that arrived for the reader.
        var count: UInt64 = 0
        var gate = RandomAccessGate(isClosed: true)
        var needsKeyFrame = true
        var isFinished = false
    }

    let track: String
    let kind: TrackFormat.Kind
    let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    init(track: String, kind: TrackFormat.Kind) {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.track = track
        self.kind = kind
        wakes = stream
        wake = continuation
    }

    /// Adds a frame that arrived.
    func push(_ frame: ReceivedFrame) {
        let isAdded = state.withLock { state in
            state.count += 1
            let byteCount = frame.coded.bytes.count
            if state.frames.count >= Self.limit || state.byteCount + byteCount > Self.byteLimit {
                (state.frames, state.byteCount, state.needsKeyFrame) = ([], 0, true)
                state.gate.close()
            }
            guard !state.isFinished, state.gate.passes(isRandomAccess: frame.coded.isRandomAccess) else { return false }
            state.needsKeyFrame = false
            state.byteCount += byteCount
            state.frames.append(RoomFrame(frame, number: state.count))
            return true
        }
        // A reader that waits for a key frame isn't woken by others.
        if isAdded { wake.yield() }
    }

    /// Drops the frames up to the next key frame: the reader can't decode what follows.
    func closeGate() {
        state.withLock { state in
            (state.frames, state.byteCount) = ([], 0)
            state.needsKeyFrame = true
            state.gate.close()
        }
    }

    func next() -> Next {
        state.withLock { state in
            if !state.frames.isEmpty {
                let frame = state.frames.removeFirst()
                state.byteCount -= frame.coded.bytes.count
                return .frame(frame)
            }
            if state.isFinished { return .finished }
            defer { state.needsKeyFrame = false }
            return .nothing(needsKeyFrame: state.needsKeyFrame)
        }
    }

    /// No frame follows; those that wait can still be read.
    func finish() {
        state.withLock { $0.isFinished = true }
        wake.yield()
    }
}
