import CaptureLink
import MediaTypes
import Recording
import RecordingFiles
import Synchronization
import X264Encoding

/// Records what capture sends to a file, beside the host or without one.
final class CaptureRecorder {
    private let queue: RecordingQueue
    private var keyFrames: RecordedKeyFrames
    private let hadGap = Flag()

    /// A truth that may be told on any thread.
    private final class Flag: Sendable {
        let value = Mutex(false)
    }

    /// Creates the file, which must not exist and gets no larger than `sizeLimit` bytes.
    convenience init(
        path: String, sizeLimit: UInt64?, log: @escaping @Sendable (CaptureLogLevel, String) -> Void
    ) throws(RecordingFileError) {
        try self.init(try RecordingFile(creating: path, sizeLimit: sizeLimit), log: log)
    }

    /// Records to a file that is there already. At most `limit` bytes wait to be written.
    init(
        _ file: consuming RecordingFile, limit: Int = 16 << 20, keyFramePeriod: Interval = RecordedKeyFrames.period,
        log: @escaping @Sendable (CaptureLogLevel, String) -> Void
    ) throws(RecordingFileError) {
        keyFrames = RecordedKeyFrames(period: keyFramePeriod)
        let hadGap = hadGap
        queue = try RecordingQueue(file, limit: limit) { event in
            switch event {
            case .room: break
            case .gap(let gap):
                log(.warning, "--record: the disk is too slow: \(gap.messages) messages are not in the recording")
                hadGap.value.withLock { $0 = true }
            case .stopped(let error): log(.warning, "--record: \(error); recording has stopped, sharing goes on")
            }
        }
    }

    /// Whether it still records.
    var isRecording: Bool { queue.failure == nil }

    /// Whether messages were left out since the last call: what follows can be decoded from the next IDR picture on.
    func takeGap() -> Bool {
        hadGap.value.withLock { hadGap in
            defer { hadGap = false }
            return hadGap
        }
    }

    /// A picture was recorded; whether the recording needs an IDR picture now.
    func wantsKeyFrame(behind picture: PicturePipeline.Picture) -> Bool {
        keyFrames.recorded(
            isIDR: picture.encoded.isIDR, showsChange: !picture.damage.isEmpty, at: picture.captureTime)
    }

    /// Capture begins.
    func begin() { queue.beginConnection(at: .now()) }

    /// One message is sent now.
    func add(_ message: [UInt8], _ form: LinkForm) {
        guard let message = LinkBytes(message, form: form) else { return }
        queue.add(message, at: .now())
    }

    /// How long the end waits for the disk: whoever ends us with a signal waits for two seconds, and the host is told first.
    private static let patience = Interval.milliseconds(400)

    /// Finishes the file. Idempotent.
    ///
    /// - Returns: what the disk has not taken in time; nil where nothing. Any other failure was told when it came.
    func close() -> RecordingFileError? {
        queue.close(within: Self.patience)
        guard let failure = queue.failure, case .stalled = failure else { return nil }
        return failure
    }
}
