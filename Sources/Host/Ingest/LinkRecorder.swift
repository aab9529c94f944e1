import CaptureLink
public import MediaTypes
public import Recording
public import RecordingFiles
import Synchronization
public import Threading

/// Records what passes over a host's link, with the times at which it passed, to a file.
///
/// Any thread. A live capture is never held up: what the disk is too slow for is left out, and the gap is in the file. A
/// replay is read no faster than the file is written.
public final class LinkRecorder: Sendable {
    /// Where it records to.
    public let path: String
    private let queue: RecordingQueue
    /// How long pictures may change without an IDR picture before the source is asked for one.
    let keyFramePeriod: Interval
    private let listeners: Listeners

    /// Who has to hear of the queue; set once the link's thread is there.
    private final class Listeners: Sendable {
        struct Value {
            var onRoom: @Sendable () -> Void = {}
            var onGap: @Sendable () -> Void = {}
            var onStop: @Sendable () -> Void = {}
        }

        let value = Mutex(Value())
    }

    /// Creates the file, which must not exist. It gets no larger than `sizeLimit` bytes; at most `limit` bytes wait to be
    /// written.
    public convenience init(
        path: String, sizeLimit: UInt64? = nil, limit: Int = 16 << 20, log: EventLog
    ) throws(RecordingFileError) {
        try self.init(try RecordingFile(creating: path, sizeLimit: sizeLimit), limit: limit, log: log)
    }

    /// Records to a file that is there already. At most `limit` bytes wait to be written.
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
                let line = "--record: \(error); recording has stopped, everything else goes on"
                if case .limitReached = error { log.warning(line) } else { log.error(line) }
                listeners.value.withLock { $0.onStop }()
            }
        }
    }

    /// Says who has to hear of it, on the writing thread: there is room again, a gap has ended, recording has stopped by
    /// itself. None of them may block.
    func connect(
        onRoom: @escaping @Sendable () -> Void, onGap: @escaping @Sendable () -> Void,
        onStop: @escaping @Sendable () -> Void
    ) {
        listeners.value.withLock { $0 = Listeners.Value(onRoom: onRoom, onGap: onGap, onStop: onStop) }
    }

    /// Whether a replay may be read on; its thread is woken where it may again.
    var hasRoom: Bool { queue.hasRoom }

    /// A capture, or a replay, has come.
    func beginConnection(at time: MonotonicTime) { queue.beginConnection(at: time) }

    /// A message passed at `time`. The proof of a token stays out: whoever gets the file must not try tokens against it.
    func add(_ message: LinkBytes, direction: LinkDirection, mayBeLost: Bool, at time: MonotonicTime) {
        guard message.header.kind != .answer else { return }
        queue.add(message, direction: direction, mayBeLost: mayBeLost, at: time)
    }

    /// Whether it still records.
    public var isRecording: Bool { queue.failure == nil }

    /// What it does.
    public var status: RecordingStatus {
        RecordingStatus(path: path, counters: queue.counters, failure: queue.failure)
    }

    /// What comes later is not recorded; the rest of the file is written. Doesn't wait for that. Idempotent.
    public func finish() { queue.finish() }

    /// As ``finish()``, and waits for the disk, at most so long. Idempotent.
    ///
    /// - Returns: false where the file lacks something at its end: `status.failure` says why.
    @discardableResult
    public func close(within limit: Interval = RecordingQueue.patience) -> Bool { queue.close(within: limit) }
}
