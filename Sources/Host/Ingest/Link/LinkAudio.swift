import CaptureLink
import MediaTypes
import Threading
import TrackHub

/// The sound of a connection as the rest of the host sees it: any thread may call it, and the link's thread sends the
/// messages. Each packet is a key frame, and comes by itself; sound takes so little that pictures get less instead.
final class LinkAudio: PictureSource {
    var makesKeyFrames: Bool { true }
    /// Whether it sends nothing while nobody listens.
    let restsUnwatched: Bool
    private let messages: Mailbox<LinkMessage>

    init(wake: EventFD, restsUnwatched: Bool) {
        self.restsUnwatched = restsUnwatched
        messages = Mailbox(wake: wake)
    }

    func setWatched(_ isRunning: Bool) { post(isRunning ? .watched : .unwatched) }
    func setSharerPaused(_ isPaused: Bool) { post(.sharerPaused(isPaused)) }
    func setMicrophoneMuted(_ isMuted: Bool) { post(.microphoneMuted(isMuted)) }

    func takeMessages() -> [LinkMessage] { messages.take() }

    private func post(_ message: LinkMessage) {
        // If the peer doesn't read, only the latest message of each kind is kept.
        messages.post(message) { waiting in waiting.removeAll { $0.kind == message.kind } }
    }
}
