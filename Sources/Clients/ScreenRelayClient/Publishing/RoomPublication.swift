import Clocks
public import MediaTypes
import TrackEncoding

/// A track that a client publishes into its room: of pictures, which it encodes, or of the application's own frames.
///
/// It lasts until ``end()``, the end of the client, or the release of it and its events. The host keeps its track for a
/// minute after that, with its last picture. May be used on any thread, but only one thread may write at a time.
public final class RoomPublication: Sendable {
    private let id: UInt64
    fileprivate let published: PublishedTrack
    private let room: RoomClient

    init(_ publication: (id: UInt64, track: PublishedTrack), _ room: RoomClient) {
        id = publication.id
        published = publication.track
        self.room = room
    }

    deinit { end() }

    /// The track's name in the room.
    public var track: String { published.name }

    /// What happens to it. For one reader; at most 1024 events wait.
    public var events: PublicationEvents { PublicationEvents(publication: self) }

    /// Writes the next picture.
    ///
    /// While the host receives the track, the picture is encoded before the call returns: some 4 ms for 1920x1080, and
    /// more where much changes. Otherwise the newest picture is kept, and is the first that the host gets. Pictures may
    /// have any size and colours; another size begins with a key frame.
    ///
    /// - Parameters:
    ///   - picture: the picture.
    ///   - captured: when it was captured, on this machine's CLOCK_MONOTONIC; nil for the picture's own time, or if it
    ///     has none, for now.
    /// - Returns: nil if the picture is encoded or kept; otherwise why it is left out. The next call reports an encoder
    ///   that fails on another thread.
    @discardableResult
    public func write(_ picture: I420Picture, captured: MonotonicTime? = nil) -> PublicationError? {
        if published.hasEnded { return .ended }
        guard let encoder = published.source.encoder else { return .wrongKind }
        guard TrackEncoder.takes(picture) else { return .wrongSize }
        let isDone = encoder.write(picture, captured: captured ?? picture.captureTime ?? .now())
        return isDone ? nil : .encoderFailed
    }

    /// Writes the next frame, in decoding order: H.264 without B-frames, as `CodedFrame.init(annexB:captureTime:)` of
    /// the module H264 makes it. The host and its viewers get it unchanged.
    ///
    /// A key frame must begin with its headers. The capture time is on this machine's CLOCK_MONOTONIC; if there is
    /// none, the time of this call is used.
    ///
    /// - Returns: nil if the frame is on its way to the host, or is kept for it; otherwise why it is left out.
    @discardableResult
    public func write(_ frame: CodedFrame) -> PublicationError? {
        if published.hasEnded { return .ended }
        guard published.source.encoder == nil else { return .wrongKind }
        if let format = frame.format, format.kind != .video { return .wrongCodec }
        if frame.units.isEmpty { return .empty }
        published.source.deliver(frame)
        return nil
    }

    /// Ends it. Further calls do nothing.
    public func end() { room.engine.endPublication(id) }
}

/// What happens to a publication.
public enum PublicationEvent: Hashable, Sendable {
    /// The host receives it: for the first time, or again after ``reconnecting(_:)``.
    case published
    /// The connection was lost, or wasn't made, for this reason. It is tried again after 0.5 to 8 s.
    case reconnecting(String)
    /// It is over; the last event.
    case ended(RoomEnd)
}

/// A publication's events, for one reader. They end with the publication, or when the reader's task is cancelled, which
/// doesn't end the publication.
public struct PublicationEvents: AsyncSequence, Sendable {
    let publication: RoomPublication

    public func makeAsyncIterator() -> Iterator { Iterator(publication) }

    /// Reads the events one by one.
    public struct Iterator: AsyncIteratorProtocol {
        private let publication: RoomPublication
        private var events: EventQueue<PublicationEvent>.Reader

        init(_ publication: RoomPublication) {
            self.publication = publication
            events = EventQueue<PublicationEvent>.Reader(publication.published.events)
        }

        /// The next event; nil after the last one, or once the task is cancelled.
        public mutating func next() async -> PublicationEvent? { await events.next() }
    }
}

/// Why a publication has left out what its application wrote.
public enum PublicationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is over.
    case ended
    /// It takes something else: pictures and not frames, or the other way round.
    case wrongKind
    /// The frame isn't one of pictures.
    case wrongCodec
    /// The frame has no bytes.
    case empty
    /// A picture's planes don't fit its size, a side is longer than 16,384 pixels, or it has more than 36 megapixels.
    case wrongSize
    /// The encoder has failed, which happens only without memory. The next picture gets another one.
    case encoderFailed

    public var description: String {
        switch self {
        case .ended: "the publication is over"
        case .wrongKind: "the publication takes something else"
        case .wrongCodec: "the frame is of a codec that the track can't have"
        case .empty: "the frame is empty"
        case .wrongSize: "the picture's planes don't fit its size, or it is too large"
        case .encoderFailed: "the encoder has failed"
        }
    }
}
