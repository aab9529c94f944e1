import CaptureLink
import MediaTypes
import Recording
import Threading

/// What is recorded of one connection: the messages as they passed, also those that the host can't use.
///
/// Belongs to the link's thread.
final class PeerRecording {
    private let recorder: LinkRecorder
    /// Beside the decoder, which keeps neither headers nor messages of unknown kinds; nil once it can't follow any more.
    private var splitter: LinkMessageSplitter? = LinkMessageSplitter()
    /// Whether the connection is the track's source: what strangers say is not recorded.
    private var isBegun = false
    /// Whether the peer waits for the file: it is a replay, of which nothing may be lost.
    var isLossless = false
    private var keyFrames: RecordedKeyFrames

    init(_ recorder: LinkRecorder) {
        self.recorder = recorder
        keyFrames = RecordedKeyFrames(period: recorder.keyFramePeriod)
    }

    /// Whether the peer must not be read now.
    var isHeldBack: Bool { isLossless && isBegun && !recorder.hasRoom }

    /// How many bytes of a message are kept here that is not yet whole.
    var unfinishedBytes: Int { splitter?.unfinishedBytes ?? 0 }

    /// The connection was taken.
    func begin(at time: MonotonicTime) {
        isBegun = true
        recorder.beginConnection(at: time)
    }

    /// Takes what was read, and records what is whole by `time`. Nothing of `bytes` itself is kept: the thread reads into the
    /// same memory again.
    ///
    /// Of a stranger nothing is kept but the message that it is in the middle of: whole ones that come in reads before the one
    /// that made it the source are of unknown kinds, or the proof of a token.
    func take(_ bytes: ArraySlice<UInt8>, at time: MonotonicTime) {
        splitter?.push(bytes)
        while let message = splitter?.next() {
            if isBegun {
                recorder.add(message, direction: .toHost, mayBeLost: !isLossless, at: time)
            }
        }
        if splitter?.fault != nil { splitter = nil }
    }

    /// A message came from a source that makes IDR pictures when asked; whether the recording needs one now.
    func wantsKeyFrame(behind message: LinkMessage, at time: MonotonicTime) -> Bool {
        isBegun && keyFrames.recorded(message, at: time) && recorder.isRecording
    }

    /// Records what the host has said.
    func recordAnswer(_ bytes: [UInt8]) {
        guard isBegun, let message = LinkBytes(bytes, form: .extended) else { return }
        recorder.add(message, direction: .toCapture, mayBeLost: !isLossless, at: monotonicNow())
    }
}
