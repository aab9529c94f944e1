import ByteCoding
import CaptureLink
import Clocks
import HostConnection
import MediaTypes
import Recording
import RecordingFiles
import Threading
import VideoEncoding

/// Writes everything that capture sends into a recording, with or without a host.
final class CaptureRecorder {
    private let queue: RecordingQueue
    private var encoder = MessageEncoder(epoch: 0)
    private var keyFrames: RecordedKeyFrames
    private let hadGap = Flag()

    /// Records to a file that is already open. At most `limit` bytes wait to be written.
    init(
        _ file: consuming RecordingFile, limit: Int = 16 << 20, keyFramePeriod: Interval = RecordedKeyFrames.period,
        log: EventLog
    ) throws(RecordingFileError) {
        keyFrames = RecordedKeyFrames(period: keyFramePeriod)
        let hadGap = hadGap
        queue = try RecordingQueue(file, limit: limit) { event in
            switch event {
            case .room: break
            case .gap(let gap):
                log.warning("--record: the disk is too slow: \(gap.messages) messages are not in the recording")
                hadGap.set()
            case .stopped(let error): log.warning("--record: \(error); recording has stopped, sharing continues")
            }
        }
    }

    /// Whether it is still recording.
    var isRecording: Bool { queue.failure == nil }

    /// Returns whether messages were left out since the last call. What follows can then be decoded only from the next
    /// key frame on.
    func takeGap() -> Bool { hadGap.set(false) }

    /// Whether the recording, to which `picture` has been added, now needs a key frame.
    func wantsKeyFrame(behind picture: PictureCoder.Picture) -> Bool {
        isRecording
            && keyFrames.recorded(
                isRandomAccess: picture.encoded.isRandomAccess, showsChange: !picture.damage.isEmpty,
                at: picture.captureTime)
    }

    /// Notes that capture begins. From now on, what `encoder` makes of messages and pictures is recorded.
    func begin(_ encoder: MessageEncoder) {
        self.encoder = encoder
        queue.beginConnection(at: .now())
    }

    /// Records a control message that is sent now; a legacy sender sends none.
    func add(_ message: LinkMessage) {
        if isRecording, encoder.form == .extended { add(encoder.encode(message)) }
    }

    /// Records a picture as a host that has said hello receives it. Each message has to be one piece of memory, which
    /// the recording's thread keeps.
    func add(_ picture: PictureCoder.Picture, _ notice: PictureNotice) throws(CaptureError) {
        guard isRecording else { return }
        add(.picture(notice))
        for index in 0..<picture.encoded.count {
            let unit = picture.encoded[index]
            var message = ByteWriter(capacity: unit.count + 44)
            do throws(LinkError) {
                try encoder.appendStart(of: index, in: picture.frame, to: &message)
            } catch {
                throw .message(error)
            }
            message.append(unit)
            add(message.bytes)
        }
    }

    /// Records the bytes of a message.
    func add(_ message: [UInt8]) {
        guard let message = LinkBytes(message, form: encoder.form) else { return }
        queue.add(message, at: .now())
    }

    /// How long closing waits for the disk. A process that ends this one with a signal waits for two seconds, and the
    /// host is told first.
    private static let timeout = Interval.milliseconds(400)

    /// Finishes the file. Idempotent.
    ///
    /// - Returns: An error if the disk has not taken everything in time, otherwise nil. Any other failure was reported
    ///   when it happened.
    func close() -> RecordingFileError? {
        queue.close(within: Self.timeout)
        guard let failure = queue.failure, case .stalled = failure else { return nil }
        return failure
    }
}
