import CaptureLink
import Clocks
import MediaTypes
import Recording
import RecordingFiles
import Threading
import X264Encoding

/// Writes everything that capture sends into a recording, with or without a host.
final class CaptureRecorder {
    private let queue: RecordingQueue
    private var keyFrames: RecordedKeyFrames
    private let hadGap = Flag()

    /// Creates the file, which must not exist and grows to `sizeLimit` bytes at most.
    convenience init(
        path: String, sizeLimit: UInt64?, log: @escaping @Sendable (CaptureLogLevel, String) -> Void
    ) throws(RecordingFileError) {
        try self.init(try RecordingFile(creating: path, sizeLimit: sizeLimit), log: log)
    }

    /// Records to a file that is already open. At most `limit` bytes wait to be written.
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
                hadGap.set()
            case .stopped(let error): log(.warning, "--record: \(error); recording has stopped, sharing goes on")
            }
        }
    }

    /// Whether it is still recording.
    var isRecording: Bool { queue.failure == nil }

    /// Returns whether messages were left out since the last call. What follows can then be decoded only from the next
    /// IDR picture on.
    func takeGap() -> Bool { hadGap.set(false) }

    /// Notes that a picture was recorded; returns whether the recording needs an IDR picture now.
    func wantsKeyFrame(behind picture: PicturePipeline.Picture) -> Bool {
        keyFrames.recorded(
            isIDR: picture.encoded.isIDR, showsChange: !picture.damage.isEmpty, at: picture.captureTime)
    }

    /// Notes that capture begins.
    func begin() { queue.beginConnection(at: .now()) }

    /// Records a message that is sent now.
    func add(_ message: [UInt8], _ form: LinkForm) {
        guard let message = LinkBytes(message, form: form) else { return }
        queue.add(message, at: .now())
    }

    /// How long closing waits for the disk. Whoever ends the process with a signal waits for two seconds, and the host
    /// is told first.
    private static let patience = Interval.milliseconds(400)

    /// Finishes the file. Idempotent.
    ///
    /// - Returns: An error if the disk has not taken everything in time, otherwise nil. Any other failure was reported
    ///   when it happened.
    func close() -> RecordingFileError? {
        queue.close(within: Self.patience)
        guard let failure = queue.failure, case .stalled = failure else { return nil }
        return failure
    }
}
