import CaptureLink
public import MediaTypes
import Recording

/// Records a publisher's pictures in the recording of a track's link, as if a capture had sent them.
///
/// Belongs to the publisher's thread, which is never held up: if the disk is too slow, pictures are left out.
public struct PublicationRecording {
    private let recorder: LinkRecorder
    private let encoder: MessageEncoder
    private var count: UInt64 = 0
    /// The codec that a reader of the recording assumes now.
    private var codec = TrackFormat.Codec.h264
    private var keyFrames: RecordedKeyFrames

    /// Begins a connection in `recorder` at `time`; `epoch` is random and not zero.
    public init(_ recorder: LinkRecorder, epoch: UInt64, at time: MonotonicTime) {
        self.recorder = recorder
        keyFrames = RecordedKeyFrames(period: recorder.keyFramePeriod)
        encoder = MessageEncoder(epoch: epoch)
        recorder.beginConnection(at: time)
        let hello = Hello(role: .capture, name: "publisher", processID: 0, makesKeyFrames: false)
        recorder.add(encoder.encode(.hello(hello)), at: time)
    }

    /// Records `frame`, which arrived at `time`. A publisher doesn't say what has changed, so each picture counts as a
    /// change.
    ///
    /// - Returns: whether the recording needs a key frame now.
    @discardableResult
    public mutating func record(_ frame: CodedFrame, at time: MonotonicTime) -> Bool {
        if let newCodec = frame.format?.codec, newCodec != codec {
            codec = newCodec
            recorder.add(encoder.encode(.format(newCodec)), at: time)
        }
        // After a gap, recording resumes at a picture notice, so each picture has one.
        let notice = PictureNotice(sequenceNumber: count, damage: .nothing)
        count &+= 1
        recorder.add(encoder.encode(.picture(notice), captureTime: frame.captureTime), at: time)
        recorder.add(frame, by: encoder, at: time)
        return keyFrames.recorded(isRandomAccess: frame.isRandomAccess, showsChange: true, at: time)
            && recorder.isRecording
    }
}

extension LinkRecorder {
    /// Adds a message as if a capture had sent it, or leaves it out if the disk is too slow.
    func add(_ bytes: [UInt8], at time: MonotonicTime) {
        guard let message = LinkBytes(bytes, form: .extended) else { return }
        add(message, direction: .toHost, mayBeLost: true, at: time)
    }

    /// Adds the messages of a frame; none if the link would not accept the frame.
    func add(_ frame: CodedFrame, by encoder: MessageEncoder, at time: MonotonicTime) {
        for message in (try? encoder.headers(for: frame)) ?? [] {
            add(message.header + frame.bytes[message.payload], at: time)
        }
    }
}
