import Ingest
import MediaTypes

/// The recording of an application's pictures. While the sharer pauses, nothing is recorded that viewers don't see.
struct SourceRecording {
    private var publication: PublicationRecording
    /// Whether frames before the next key frame can't be decoded by a reader of the recording.
    private var needsKeyFrame = true

    init(_ recorder: LinkRecorder, epoch: UInt64, at time: MonotonicTime) {
        publication = PublicationRecording(recorder, epoch: epoch, at: time)
    }

    /// Records `frame`, unless it is hidden or depends on a frame that was. Returns whether a key frame is needed now.
    mutating func record(_ frame: CodedFrame, isHidden: Bool, at time: MonotonicTime) -> Bool {
        needsKeyFrame = isHidden || needsKeyFrame && !frame.isRandomAccess
        return needsKeyFrame ? false : publication.record(frame, at: time)
    }
}
