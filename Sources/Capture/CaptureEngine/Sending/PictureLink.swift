import CaptureLink
import Glibc
import HostConnection
import LinkTransport
import MediaTypes
import Threading
import VideoEncoding

/// Sends pictures and messages to the host, and into the recording if there is one.
///
/// Belongs to the capture thread.
final class PictureLink {
    private let configuration: CaptureConfiguration
    /// The connection to the host, for what doesn't concern the recording: waiting, and what was sent.
    let host: HostLink
    /// The recorder of all that is sent.
    let recorder: CaptureRecorder?

    /// Creates a link that is not connected yet.
    init(_ configuration: CaptureConfiguration, recorder: CaptureRecorder?, log: EventLog) {
        self.configuration = configuration
        self.recorder = recorder
        var link = HostLinkConfiguration(link: configuration.link)
        link.token = configuration.linkToken
        link.isLegacy = configuration.isLegacy
        link.readTimeout = configuration.readTimeout
        host = HostLink(link, log: log)
    }

    /// Whether the next picture can be written: a host that accepts pictures has taken the last one, or there is only a
    /// recording.
    var isReady: Bool { host.acceptsFrames ? host.isReady : isRecording }
    /// Whether there is a receiver: a host, or a recording.
    var hasReader: Bool { host.isConnected || isRecording }
    /// Whether there is a recording, which counts as a viewer.
    var isRecording: Bool { recorder?.isRecording ?? false }

    /// Begins the recording like a connection to a host. The recording goes on while hosts connect and leave.
    func beginRecording(_ size: PictureSize) {
        recorder?.begin(host.encoder)
        for message in introduction(size) { recorder?.add(message) }
    }

    /// Connects if an attempt is due; returns true if that succeeded.
    func connectIfDue(_ now: MonotonicTime) throws(CaptureError) -> Bool {
        do throws(SocketError) {
            return try host.connectIfDue(now)
        } catch {
            throw .link(error)
        }
    }

    /// Reads what the host has sent, and passes each request to `body`, as well as the first hello: from then on, the
    /// host understands all messages, but knows nothing yet.
    func receive(_ now: MonotonicTime, size: PictureSize, _ body: (LinkMessage) -> Void) {
        host.receive(now, introduction: introduction(size)) { message in
            body(message)
            // The pictures taken until now went only into the recording.
            if case .hello = message, configuration.linkToken != nil { body(.requestKeyFrame) }
        }
    }

    /// The messages that precede the first picture. A stream without a format message is H.264.
    private func introduction(_ size: PictureSize) -> [LinkMessage] {
        let hello = Hello(
            role: .capture, name: "screenrelay-capture \(screenRelayVersion)", processID: UInt32(clamping: getpid()),
            makesKeyFrames: true, tellsPointer: true, changesChroma: configuration.chroma == .yuv444Or420)
        return [.hello(hello), .size(size)] + (configuration.codec == .h264 ? [] : [.format(configuration.codec)])
    }

    /// Sends a control message to a host that understands it, and to the recording.
    func send(_ message: LinkMessage) {
        recorder?.add(message)
        host.send(message)
    }

    /// Sends a picture to the host and to the recording.
    func send(_ picture: PictureCoder.Picture, _ notice: PictureNotice) throws(CaptureError) {
        try recorder?.add(picture, notice)
        do throws(LinkError) {
            try host.send(picture.frame, notice: .picture(notice))
        } catch {
            throw .message(error)
        }
    }

    /// Sends the host the reason for the end, gives it a moment to read the message, and closes the connection.
    func end(_ reason: EndReason, _ text: String) {
        recorder?.add(.end(EndNotice(reason: reason, text: text)))
        host.end(reason, text)
    }
}

extension PictureCoder.Picture {
    /// The picture as it is sent.
    var frame: OutgoingFrame { OutgoingFrame(units: encoded.units, captureTime: captureTime) }
}
