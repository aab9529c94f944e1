import CaptureLink
import MediaTypes
import Synchronization
import Threading
import TrackHub

/// A capture as the rest of the host sees it: any thread may call it, and the link's thread sends the messages.
final class LinkSource: PictureSource {
    private let makesIDRs = Atomic(false)
    private let hasBothChromaFormats = Atomic(false)
    private let reportsPointer = Atomic(false)
    var canMakeIDR: Bool { makesIDRs.load(ordering: .relaxed) }
    var tellsPointer: Bool { reportsPointer.load(ordering: .relaxed) }
    var changesChroma: Bool { hasBothChromaFormats.load(ordering: .relaxed) }
    private let known = Mutex<SourceTiming?>(nil)
    var timing: SourceTiming? {
        get { known.withLock { $0 } }
        set { known.withLock { $0 = newValue } }
    }
    private let messages = Mutex<[LinkMessage]>([])
    private let wake: WakeUp

    init(wake: WakeUp) {
        self.wake = wake
    }

    /// Takes from the capture's hello what it can do.
    func greeted(with hello: Hello) {
        makesIDRs.store(hello.canMakeIDR, ordering: .relaxed)
        reportsPointer.store(hello.tellsPointer, ordering: .relaxed)
        hasBothChromaFormats.store(hello.changesChroma, ordering: .relaxed)
    }

    func requestIDR() { post(.requestIDR) }

    func setWatched(_ isRunning: Bool) { post(isRunning ? .watched : .unwatched) }

    /// A capture that receives `resume` makes a picture at once, even if it is already running.
    func requestPicture() { post(.watched) }

    func setTargetBitRate(_ rate: BitRate) { post(.bitRate(rate)) }

    func setFrameRate(_ rate: FrameRate) { post(.frameRate(rate)) }
    func sharpen() { post(.sharpen) }

    func setSharerPaused(_ isHeld: Bool) { post(.sharerPaused(isHeld)) }
    func setPointerMode(_ mode: PointerMode) { post(.pointerMode(mode)) }
    func setChroma(_ format: ChromaFormat) { post(.chroma(format)) }

    func takeMessages() -> [LinkMessage] {
        messages.withLock { messages in
            let taken = messages
            messages.removeAll()
            return taken
        }
    }

    private func post(_ message: LinkMessage) {
        // A legacy sender never takes its messages. They must not pile up, so only the latest of each kind is kept.
        messages.withLock { messages in
            messages.removeAll { $0.kind == message.kind }
            messages.append(message)
        }
        wake.signal()
    }
}
