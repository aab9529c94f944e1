import CLinux
import CaptureLink
import Glibc
public import MediaTypes
public import Recording
import Synchronization

/// Records messages without holding up who has them: a bounded queue in front of a thread that writes the file.
///
/// `add` never waits for the disk. What a live link's queue has no room for is left out, whole access units at a time, and a
/// record of the gap takes its place. A link that may lose nothing (a replay's) asks `hasRoom` before it reads on, and is
/// woken by `.room`. When the file can't grow any more, or has reached its size limit, the queue stops, says so once, and
/// ignores what follows. A kill leaves a file that is whole up to the last records that were written; nothing lies in a buffer
/// for longer than the writing of what came before.
///
/// A recording that has got no message is removed where it ends: it would only keep the next one from its name.
///
/// Any thread may call; the handler is called on the writing thread, and must not block.
public final class RecordingQueue: Sendable {
    /// What the handler hears.
    public enum Event: Sendable, Equatable {
        /// There is room again after `hasRoom` was false.
        case room
        /// A gap has ended: the messages behind it can be decoded only from the next IDR picture on. Ask for one.
        case gap(RecordingGap)
        /// The file can't be written any more, or has reached its size limit; recording has stopped, and nothing else has.
        case stopped(RecordingFileError)
    }

    /// What was recorded so far.
    public struct Counters: Sendable, Equatable {
        /// Messages in the file; where recording stopped by itself a few more may be.
        public internal(set) var messages: UInt64 = 0
        /// Bytes of the file, up to its last whole record.
        public internal(set) var fileBytes: UInt64 = 0
        /// Messages that were left out.
        public internal(set) var missingMessages: UInt64 = 0
        /// How often messages were left out.
        public internal(set) var gaps: UInt64 = 0
    }

    private let shared: RecordingBacklog
    private let thread: Mutex<pthread_t?>
    /// How long the end waits for the disk, where nobody says otherwise.
    public static let patience = Interval.seconds(5)

    /// Takes the file over and starts the thread that writes it.
    ///
    /// - Parameters:
    ///   - limit: so many bytes may wait. One message of the largest size always fits.
    ///   - isLossless: nothing is ever left out; the caller asks `hasRoom` instead.
    /// - Throws: where the system has no room for a thread.
    public init(
        _ file: consuming RecordingFile, limit: Int = 16 << 20, isLossless: Bool = false,
        handler: @escaping @Sendable (Event) -> Void
    ) throws(RecordingFileError) {
        let path = file.path
        shared = RecordingBacklog(
            path: path, header: file.header, limit: limit, isLossless: isLossless, handler: handler)
        let writing = RecordingWork(file: file, backlog: shared)
        thread = Mutex(try writing.start(path: path))
    }

    deinit {
        close()
    }

    /// Whether a message may be added without loss; only a lossless queue's owner has to ask. True after recording stopped.
    public var hasRoom: Bool { shared.hasRoom }
    /// What was recorded so far.
    public var counters: Counters { shared.counters }
    /// Why recording stopped by itself; nil while it goes on.
    public var failure: RecordingFileError? { shared.failure }

    /// A connection of the link begins; messages that follow are its.
    public func beginConnection(at time: MonotonicTime) { shared.beginConnection(at: time) }

    /// Records a message that arrived, or left, at `time` (CLOCK_MONOTONIC). Its bytes are shared, not copied.
    ///
    /// - Parameter mayBeLost: whether it may be left out; nil: as the queue was made. One queue may serve a live link and a
    ///   replay, one after the other.
    public func add(
        _ message: LinkBytes, direction: LinkDirection = .toHost, mayBeLost: Bool? = nil, at time: MonotonicTime
    ) {
        shared.add(message, direction, mayBeLost: mayBeLost, at: time)
    }

    /// No more is added: what waits is written, and the record of the end, and the file is closed. Doesn't wait for that.
    public func finish() { shared.close() }

    /// As ``finish()``, and waits until it is done, at most so long. A disk that hangs is left alone then, and `failure` says
    /// how much of the end is missing; the handler hears nothing of it. Idempotent.
    ///
    /// - Returns: whether the file has all that it could have.
    @discardableResult
    public func close(within limit: Interval = RecordingQueue.patience) -> Bool {
        shared.close()
        let thread = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        if let thread {
            let end = RecordingFile.now() + limit
            if shim_join_thread_until(thread, end.nanoseconds) != 0 {
                pthread_detach(thread)
                shared.abandon()
            }
        }
        return shared.failure == nil
    }
}
