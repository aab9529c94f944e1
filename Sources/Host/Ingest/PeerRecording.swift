import CaptureLink
import MediaTypes
import Recording
import Threading

/// What is recorded of one connection: the messages as they passed, also those that the host can't use.
///
/// Belongs to the link's thread.
final class PeerRecording {
    private let recorder: LinkRecorder
    /// Beside the decoder, which keeps neither headers nor messages of unknown kinds.
    private var splitter = LinkMessageSplitter()
    /// Whether the connection is the track's source: what strangers say is not recorded.
    private var isBegun = false
    /// Whether the peer waits for the file: it is a replay, of which nothing may be lost.
    var isLossless = false

    init(_ recorder: LinkRecorder) {
        self.recorder = recorder
    }

    /// Whether the peer must not be read now.
    var isHeldBack: Bool { isLossless && isBegun && !recorder.hasRoom }

    /// Bytes have come.
    func push(_ bytes: ArraySlice<UInt8>) { splitter.push(bytes) }

    /// The connection was taken.
    func begin(at time: MonotonicTime) {
        isBegun = true
        recorder.beginConnection(at: time)
    }

    /// Records what is whole of what has come by `time`.
    func record(at time: MonotonicTime) {
        guard isBegun else { return }
        while let message = splitter.next() {
            // A secret that opens this very host, and no part of what was shown.
            if message.header.kind == .token { continue }
            recorder.add(message, direction: .toHost, mayBeLost: !isLossless, at: time)
        }
    }

    /// Records what the host has said.
    func recordAnswer(_ bytes: [UInt8]) {
        guard isBegun, let message = LinkBytes(bytes, form: .extended) else { return }
        recorder.add(message, direction: .toCapture, mayBeLost: !isLossless, at: monotonicNow())
    }
}
