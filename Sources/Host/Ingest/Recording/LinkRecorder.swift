import CaptureLink
public import MediaTypes
public import Recording
public import RecordingFiles
import Synchronization
public import Threading

/// Records the messages of a host's link, with the times at which they passed, to a file.
///
/// Any thread may call it. A live capture is never held up: if the disk is too slow, messages are left out, and the
/// file marks the gap. A replay is read no faster than the file is written.
public final class LinkRecorder: Sendable {
    /// The file's path.
    public let path: String
    private let queue: RecordingQueue
    /// How long pictures may change without a key frame before the source is asked for one.
    let keyFramePeriod: Interval
    private let listeners: Listeners

    /// The callbacks for the queue's events; set by ``connect(onRoom:onGap:onStop:)``.
    private final class Listeners: Sendable {
        struct Value {
            var onRoom: @Sendable () -> Void = {}
            var onGap: @Sendable () -> Void = {}
            var onStop: @Sendable () -> Void = {}
        }

        let value = Mutex(Value())
    }

    /// Creates the file, which must not exist yet. It grows to at most `sizeLimit` bytes; at most `limit` bytes wait to
    /// be written. Throws ``RecordingFileError`` if the file exists or can't be written, or if the thread can't be
    /// created.
    public convenience init(
        path: String, sizeLimit: UInt64? = nil, limit: Int = 16 << 20, log: EventLog
    ) throws(RecordingFileError) {
        try self.init(try RecordingFile(creating: path, sizeLimit: sizeLimit), limit: limit, log: log)
    }

    /// Records to an open file. At most `limit` bytes wait to be written. Throws ``RecordingFileError`` if the thread
    /// that writes can't be created.
    public init(
        _ file: consuming RecordingFile, limit: Int = 16 << 20, keyFramePeriod: Interval = RecordedKeyFrames.period,
        log: EventLog
    ) throws(RecordingFileError) {
        path = file.path
        self.keyFramePeriod = keyFramePeriod
        let listeners = Listeners()
        self.listeners = listeners
        queue = try RecordingQueue(file, limit: limit) { event in
            switch event {
            case .room:
                listeners.value.withLock { $0.onRoom }()
            case .gap(let gap):
                log.warning(
                    "--record: the disk is too slow: \(gap.messages) messages of \(gap.bytes) bytes are not in the recording"
                )
                listeners.value.withLock { $0.onGap }()
            case .stopped(let error):
                let line = "--record: \(error); recording has stopped, everything else continues"
                if case .limitReached = error { log.warning(line) } else { log.error(line) }
                listeners.value.withLock { $0.onStop }()
            }
        }
    }

    /// Sets the callbacks, which run on the writing thread: when there is room again, when a gap has ended, and when
    /// recording has stopped by itself. None of them may block.
    func connect(
        onRoom: @escaping @Sendable () -> Void, onGap: @escaping @Sendable () -> Void,
        onStop: @escaping @Sendable () -> Void
    ) {
        listeners.value.withLock { $0 = Listeners.Value(onRoom: onRoom, onGap: onGap, onStop: onStop) }
    }

    /// Whether more of a replay may be read; its thread is woken when it may again.
    var hasRoom: Bool { queue.hasRoom }

    /// Notes that a capture or a replay has connected.
    func beginConnection(at time: MonotonicTime) { queue.beginConnection(at: time) }

    /// Records a message that passed at `time`. The proof of a token is left out, so that nobody can use the file to
    /// try out tokens.
    func add(_ message: LinkBytes, direction: LinkDirection, mayBeLost: Bool, at time: MonotonicTime) {
        guard message.header.kind != .answer else { return }
        queue.add(message, direction: direction, mayBeLost: mayBeLost, at: time)
    }

    /// Whether it still records.
    public var isRecording: Bool { queue.failure == nil }

    /// The progress of the recording.
    public var status: RecordingStatus {
        RecordingStatus(path: path, counters: queue.counters, failure: queue.failure)
    }

    /// Stops recording, and has the rest of the file written without waiting for that. Idempotent.
    public func finish() { queue.finish() }

    /// Stops recording like ``finish()``, and waits for the disk for at most `limit`. Idempotent.
    ///
    /// - Returns: false if something is missing at the end of the file; `status.failure` says why.
    @discardableResult
    public func close(within limit: Interval = RecordingQueue.timeout) -> Bool { queue.close(within: limit) }
}
