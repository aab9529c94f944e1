import CaptureLink
public import MediaTypes
import Recording

/// Records a publisher's sound in the recording of a track's link beside its pictures, as if a capture of sound had
/// sent it.
///
/// Any thread may use it, but only one at a time. If the disk is too slow, packets are left out.
public struct PublicationAudioRecording: Sendable {
    private let recorder: LinkRecorder
    private let encoder: MessageEncoder

    /// Begins the sound in `recorder`, which has packets of `codec`, at `time`; `epoch` is random and not zero.
    public init(_ recorder: LinkRecorder, codec: TrackFormat.Codec, epoch: UInt64, at time: MonotonicTime) {
        self.recorder = recorder
        encoder = MessageEncoder(epoch: epoch, stream: MessageHeader.soundStream)
        recorder.add(encoder.encode(.format(codec)), at: time)
    }

    /// Records `frame`, which arrived at `time`.
    public func record(_ frame: CodedFrame, at time: MonotonicTime) {
        recorder.add(frame, by: encoder, at: time)
    }
}
