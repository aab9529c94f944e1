import CaptureLink
import Clocks
public import MediaTypes
public import Recording
public import RecordingFiles
import Synchronization
public import Threading
public import TrackHub

/// Records the messages of a track's link, or of a publisher as if it had sent some, with the times at which they
/// passed, to a file.
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

    /// The callbacks for the queue's events.
    private final class Listeners: Sendable {
        struct Value {
            var onRoom: @Sendable () -> Void = {}
            var onGap: @Sendable () -> Void = {}
            var onStop: @Sendable () -> Void = {}
            /// Whether recording has stopped by itself, or was finished.
            var hasStopped = false
        }

        let value = Mutex(Value())

        /// Calls `onStop`, but only once after it was set.
        func stopped() {
            let onStop = value.withLock { value in
                defer { value.onStop = {} }
                value.hasStopped = true
                return value.onStop
            }
            onStop()
        }

        func handle(_ event: RecordingQueue.Event, _ log: EventLog) {
            switch event {
            case .room:
                value.withLock { $0.onRoom }()
            case .gap(let gap):
                log.warning(
                    "--record: the disk is too slow: \(gap.messages) messages of \(gap.bytes) bytes are not in the recording"
                )
                value.withLock { $0.onGap }()
            case .stopped(let error):
                let line = "--record: \(error); recording has stopped, everything else continues"
                if case .limitReached = error { log.warning(line) } else { log.error(line) }
                stopped()
            }
        }
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
        queue = try RecordingQueue(file, limit: limit) { listeners.handle($0, log) }
    }

    /// Records to a new file that the writing thread creates, so that a disk that hangs delays no caller. A file that
    /// exists or can't be created is logged, and recording stops.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - budget: the limit of its size, which it may share with others; nil for no limit.
    ///   - limit: how many bytes may wait to be written.
    ///   - log: gets the recorder's log messages.
    /// - Throws: ``RecordingFileError`` if the thread can't be created.
    public init(
        creatingLater path: String, budget: RecordingBudget?, limit: Int = 16 << 20, log: EventLog
    ) throws(RecordingFileError) {
        self.path = path
        keyFramePeriod = RecordedKeyFrames.period
        let listeners = Listeners()
        self.listeners = listeners
        queue = try RecordingQueue(creating: path, budget: budget, limit: limit) { listeners.handle($0, log) }
    }

    /// Makes this the recorder of a track: it counts as a viewer and a listener until it stops by itself or is
    /// finished, and asks the source for a key frame after a gap. Call it once.
    ///
    /// - Parameters:
    ///   - ingest: the start of the track.
    ///   - sound: the hub of the track's sound.
    ///   - onEnd: called once, when it doesn't count any more, on any thread; must not block.
    public func attach(to ingest: TrackIngest, sound: TrackHub, onEnd: @escaping @Sendable () -> Void = {}) {
        Self.setRecorded(true, ingest, sound)
        let hasStopped = listeners.value.withLock { value in
            value.onGap = { [weak ingest] in ingest?.hub.requestKeyFrame(now: MonotonicTime.now()) }
            value.onStop = { [weak ingest, weak sound] in
                Self.setRecorded(false, ingest, sound)
                onEnd()
            }
            return value.hasStopped
        }
        if hasStopped { listeners.stopped() }
    }

    private static func setRecorded(_ isRecorded: Bool, _ ingest: TrackIngest?, _ sound: TrackHub?) {
        ingest?.setRecorded(isRecorded)
        sound?.setRecorded(isRecorded, now: MonotonicTime.now())
    }

    /// Sets what is called on the writing thread when ``hasRoom`` has become true again. It must not block.
    func onRoom(_ action: @escaping @Sendable () -> Void) { listeners.value.withLock { $0.onRoom = action } }

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

    /// Whether the file is written and closed, so that nothing waits for the disk any more.
    public var isOver: Bool { queue.isOver }

    /// Whether it still records.
    public var isRecording: Bool { queue.failure == nil }

    /// The progress of the recording.
    public var status: RecordingStatus {
        RecordingStatus(path: path, counters: queue.counters, failure: queue.failure)
    }

    /// Stops recording, and has the rest of the file written without waiting for that. Idempotent.
    public func finish() {
        queue.finish()
        listeners.stopped()
    }

    /// Stops recording like ``finish()``, and waits for the disk for at most `limit`. Idempotent.
    ///
    /// - Returns: false if something is missing at the end of the file; `status.failure` says why.
    @discardableResult
    public func close(within limit: Interval = RecordingQueue.timeout) -> Bool {
        finish()
        return queue.close(within: limit)
    }
}
