import CaptureLink
import MediaTypes
import Synchronization
import Threading
import TrackHub

/// A capture as the rest of the host sees it: any thread may call it, and the link's thread sends the messages.
final class LinkSource: PictureSource {
    private let keyFrameAbility = Flag()
    private let hasBothChromaFormats = Flag()
    private let reportsPointer = Flag()
    var makesKeyFrames: Bool { keyFrameAbility.isSet }
    var tellsPointer: Bool { reportsPointer.isSet }
    var changesChroma: Bool { hasBothChromaFormats.isSet }
    /// A legacy sender and a replay read no messages.
    var obeys: SourceOrders { makesKeyFrames ? [.frameRate, .bitRate, .sharpen] : [] }
    private let known = Mutex<SourceTiming?>(nil)
    var timing: SourceTiming? {
        get { known.withLock { $0 } }
        set { known.withLock { $0 = newValue } }
    }
    private let messages: Mailbox<LinkMessage>

    init(wake: EventFD) {
        messages = Mailbox(wake: wake)
    }

    /// Takes from the capture's hello what it can do.
    func greeted(with hello: Hello) {
        keyFrameAbility.set(hello.makesKeyFrames)
        reportsPointer.set(hello.tellsPointer)
        hasBothChromaFormats.set(hello.changesChroma)
    }

    func requestKeyFrame() { post(.requestKeyFrame) }

    func setWatched(_ isRunning: Bool) { post(isRunning ? .watched : .unwatched) }

    /// A capture that receives `watched` makes a picture at once, even if it is already running.
    func requestPicture() { post(.watched) }

    func setTargetBitRate(_ rate: BitRate) { post(.bitRate(rate)) }

    func setCarriedBitRate(_ rate: BitRate) { post(.carried(rate)) }

    func setFrameRate(_ rate: FrameRate) { post(.frameRate(rate)) }
    func sharpen() { post(.sharpen) }

    func setSharerPaused(_ isPaused: Bool) { post(.sharerPaused(isPaused)) }
    func setPointerMode(_ mode: PointerMode) { post(.pointerMode(mode)) }
    func setChroma(_ format: ChromaFormat) { post(.chroma(format)) }

    func showPoint(_ point: ViewerPoint?) {
        guard makesKeyFrames else { return }
        // Each continues a line, so the latest isn't enough.
        messages.post(.pointing(point)) { waiting in
            let count = waiting.count { $0.kind == .pointing }
            guard count >= Self.maxPoints, let first = waiting.firstIndex(where: { $0.kind == .pointing }) else {
                return
            }
            waiting.remove(at: first)
        }
    }

    /// The maximum number of points that wait. The link's thread takes them as soon as it is awake.
    private static let maxPoints = 64

    func takeMessages() -> [LinkMessage] { messages.take() }

    private func post(_ message: LinkMessage) {
        // A legacy sender never takes its messages. They must not pile up, so only the latest of each kind is kept.
        messages.post(message) { waiting in waiting.removeAll { $0.kind == message.kind } }
    }
}
