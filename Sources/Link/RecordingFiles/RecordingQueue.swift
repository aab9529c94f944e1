import CaptureLink
import Clocks
public import MediaTypes
public import Recording
import Threading

/// Records messages without blocking the caller: a bounded queue and a thread that writes the file.
///
/// `add` never waits for the disk. If a live link's queue is full, whole pictures are dropped, and a gap record takes
/// their place; a packet of sound is dropped without one. A link that must not lose anything, such as a replay's,
/// checks `hasRoom` before it reads on, and is notified by `.room`.
///
/// When the file can't grow or has reached its size limit, the queue stops, reports that once, and ignores what
/// follows. After a kill, the file is complete up to the last records that were written; no record stays in a buffer
/// longer than it takes to write the records before it. A new file is removed at the end if it has no messages, because
/// it would only occupy the name.
///
/// Thread-safe. The handler is called on the writing thread and must not block.
public final class RecordingQueue: Sendable {
    /// The events that are passed to the handler.
    public enum Event: Sendable, Equatable {
        /// There is room again after `hasRoom` was false.
        case room
        /// A gap has ended. The messages after it can be decoded only from the next key frame on, so one should be
        /// requested.
        case gap(RecordingGap)
        /// The file can't be written, or has reached its size limit. Only recording has stopped.
        case stopped(RecordingFileError)
    }

    /// Statistics of the recording so far.
    public struct Counters: Sendable, Equatable {
        /// The number of messages in the file. If recording stopped by itself, the file may have a few more.
        public internal(set) var messages: UInt64 = 0
        /// The length of the file in bytes, up to its last complete record.
        public internal(set) var fileBytes: UInt64 = 0
        /// The number of messages that were left out.
        public internal(set) var missingMessages: UInt64 = 0
        /// The number of gaps.
        public internal(set) var gaps: UInt64 = 0
    }

    private let shared: RecordingBacklog
    private let thread: NamedThread
    /// How long closing waits for the disk by default.
    public static let timeout = Interval.seconds(5)

    /// Takes ownership of the file and starts the thread that writes it.
    ///
    /// - Parameters:
    ///   - limit: The number of bytes that may wait. One message of the largest size always fits.
    ///   - isLossless: Whether nothing may be left out; the caller then checks `hasRoom`.
    /// - Throws: ``RecordingFileError`` if the thread can't be created.
    public init(
        _ file: consuming RecordingFile, limit: Int = 16 << 20, isLossless: Bool = false,
        handler: @escaping @Sendable (Event) -> Void
    ) throws(RecordingFileError) {
        let path = file.path
        shared = try RecordingBacklog(
            path: path, header: file.header, limit: limit, isLossless: isLossless, handler: handler)
        thread = try RecordingFileThread(file: file, backlog: shared).start(path: path)
    }

    /// Starts a thread that creates the file and writes it, so that a disk that hangs delays no caller. Messages may be
    /// left out. If the file can't be created, the queue stops, as when the file can't grow.
    ///
    /// - Parameters:
    ///   - path: The path of the file, which must not exist yet.
    ///   - budget: The limit of the file's size, which it may share with others; nil for no limit.
    ///   - limit: The number of bytes that may wait. One message of the largest size always fits.
    /// - Throws: ``RecordingFileError`` if the thread can't be created.
    public init(
        creating path: String, budget: RecordingBudget?, limit: Int = 16 << 20,
        handler: @escaping @Sendable (Event) -> Void
    ) throws(RecordingFileError) {
        let header = RecordingHeader(start: MonotonicTime.now(), wallClock: RecordingFile.wallClock())
        shared = try RecordingBacklog(path: path, header: header, limit: limit, isLossless: false, handler: handler)
        thread = try RecordingFileThread.start(creating: path, budget: budget, backlog: shared)
    }

    deinit {
        close()
    }

    /// Whether a message may be added without loss. Only the owner of a lossless queue has to check it. True after
    /// recording stopped.
    public var hasRoom: Bool { shared.hasRoom }
    /// Statistics of the recording so far.
    public var counters: Counters { shared.counters }
    /// The reason why recording stopped by itself; nil while it continues.
    public var failure: RecordingFileError? { shared.failure }

    /// Whether the file is written and closed, so that closing doesn't wait. False while the queue isn't closed and
    /// hasn't stopped.
    public var isOver: Bool { shared.isOver }

    /// Records the beginning of a connection of the link. The messages that follow belong to it.
    public func beginConnection(at time: MonotonicTime) { shared.beginConnection(at: time) }

    /// Records a message that arrived or was sent at `time` (CLOCK_MONOTONIC). Its bytes are shared, not copied.
    ///
    /// - Parameter mayBeLost: Whether the message may be left out; nil for the queue's default. One queue may serve a
    ///   live link and then a replay.
    public func add(
        _ message: LinkBytes, direction: LinkDirection = .toHost, mayBeLost: Bool? = nil, at time: MonotonicTime
    ) {
        shared.add(message, direction, mayBeLost: mayBeLost, at: time)
    }

    /// Closes the queue for new messages. The waiting messages and the end record are still written, and the file is
    /// closed. Doesn't wait for that.
    public func finish() { shared.close() }

    /// Closes the queue like ``finish()``, and waits at most `limit` until it is done. Idempotent.
    ///
    /// If the disk hangs, the thread is abandoned, and `failure` says how much is missing at the end; the handler isn't
    /// called for that.
    ///
    /// - Returns: Whether the recording is complete.
    @discardableResult
    public func close(within limit: Interval = RecordingQueue.timeout) -> Bool {
        shared.close()
        if !thread.join(until: MonotonicTime.now() + limit) { shared.abandon() }
        return shared.failure == nil
    }
}
