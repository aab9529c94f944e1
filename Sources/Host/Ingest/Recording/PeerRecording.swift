import CaptureLink
import Clocks
import MediaTypes
import Recording
import Threading

/// Records one connection: its messages as they passed, including those that the host can't use.
///
/// Belongs to the link's thread.
final class PeerRecording {
    private let recorder: LinkRecorder
    /// Splits the stream a second time, since the decoder keeps neither headers nor messages of unknown kinds; nil once
    /// it can't follow the stream any more.
    private var splitter: LinkMessageSplitter? = LinkMessageSplitter()
    /// Whether the connection is a source of the track; what unidentified peers send is not recorded.
    private var isBegun = false
    /// Whether the peer has to wait for the file, because it is a replay, of which nothing may be lost.
    var isLossless = false
    private var keyFrames: RecordedKeyFrames

    init(_ recorder: LinkRecorder) {
        self.recorder = recorder
        keyFrames = RecordedKeyFrames(period: recorder.keyFramePeriod)
    }

    /// Whether the peer must not be read now.
    var isHeldBack: Bool { isLossless && isBegun && !recorder.hasRoom }

    /// How many bytes are held of a message that isn't complete yet.
    var unfinishedBytes: Int { splitter?.unfinishedBytes ?? 0 }

    /// Starts to record, since the connection has become a source of the track. One that carries sound alone joins the
    /// connection of pictures in the file, which goes on; `hasPictures` is then false.
    func begin(at time: MonotonicTime, hasPictures: Bool) {
        isBegun = true
        if hasPictures { recorder.beginConnection(at: time) }
    }

    /// Takes bytes that were read at `time`, and records the messages that they complete. No part of `bytes` itself is
    /// kept, since the thread reads into the same memory again.
    ///
    /// Of an unidentified peer only the message in progress is kept. Messages that were complete before the read that
    /// made it the source are dropped: they are of unknown kinds, or the proof of a token.
    func take(_ bytes: ArraySlice<UInt8>, at time: MonotonicTime) {
        splitter?.push(bytes)
        while let message = splitter?.next() {
            if isBegun {
                recorder.add(message, direction: .toHost, mayBeLost: !isLossless, at: time)
            }
        }
        if splitter?.fault != nil { splitter = nil }
    }

    /// Returns whether the recording needs a key frame after `message`, which came from a source that makes key frames
    /// when asked.
    func wantsKeyFrame(behind message: LinkMessage, at time: MonotonicTime) -> Bool {
        isBegun && keyFrames.recorded(message, at: time) && recorder.isRecording
    }

    /// Records a message that the host has sent.
    func recordAnswer(_ bytes: [UInt8]) {
        guard isBegun, let message = LinkBytes(bytes, form: .extended) else { return }
        recorder.add(message, direction: .toCapture, mayBeLost: !isLossless, at: MonotonicTime.now())
    }
}
