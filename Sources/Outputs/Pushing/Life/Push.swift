public import MediaTypes
public import OutputLife
public import OutputSettings
public import ScreenRelayKit
import Threading

/// How a push works; ``Push/reload(_:)`` changes it.
public struct PushSettings: Sendable {
    /// The number of automatic retries after a failure, 0 to 3. Where its name may be in use at the server, it tries
    /// again for ``OutputLife/nameTime`` in any case.
    public var tries = 0
    /// The longest time that connecting may take.
    public var connectTimeout = Interval.seconds(10)
    /// The longest time that the other side may accept no data.
    public var sendTimeout = Interval.seconds(10)
    /// The size of an RTMP connection's send buffer in bytes, 16 KiB to 16 MiB; the system's net.core.wmem_max may
    /// reduce it. A larger buffer carries a higher bit rate over a long path, and a slow path is noticed later.
    public var sendBuffer = 128 << 10
    /// The time between two statuses.
    public var statusPeriod = Interval.seconds(3)
    /// The time between two key frame requests while pictures arrive: viewers of the other service can begin only with
    /// a key frame. The request goes to the source, so all viewers of the track get the key frame. While the screen
    /// stands still, a push over RTMP requests one every 2 s. A source that makes none on request keeps to its own key
    /// frames, except for HLS, whose segments begin with a key frame.
    public var keyFrameInterval = Interval.seconds(3)
    /// The parts of its track that a push sends.
    public enum Content: String, CaseIterable, Hashable, Sendable {
        /// The pictures, and the sound if the track has any. If the sound begins later than the pictures, the push
        /// restarts with both.
        case both
        /// Only the pictures. The push doesn't count as a listener.
        case pictures
        /// Only the sound, whether or not there are pictures. The push doesn't count as a viewer.
        case sound
    }

    /// The parts of the track that are sent.
    public var content = Content.both
    /// How the pictures are re-encoded; nil passes the source's frames on as they are, unless there is a filter.
    public var video: VideoSettings?
    /// How the sound is re-encoded; nil passes its Opus on unchanged. RTMP and HLS accept only AAC, so for them nil
    /// encodes the sound with `AudioSettings()`.
    public var sound: AudioSettings?
    /// Returns the IPv4 or IPv6 address of a host name, as text, for each connection; nil leaves the name to the
    /// system, which also looks up all names if the closure itself is nil.
    ///
    /// Called on the connection's own thread, and may block: after ``connectTimeout``, or when the push is stopped, the
    /// push no longer waits for the result. Not called for WebRTC servers, nor for RTMPS: libavformat would send the
    /// server no name, and many servers have no certificate to show then. An RTMP server still gets the host's name; an
    /// RTSP server sees the address in the requests' URL.
    public var resolve: (@Sendable (String) -> String?)?
    /// Decides about a push to another machine when the route to it may have changed. True, the default, reconnects at
    /// once: the old connection belongs to an address or a path that is gone, and would hang for ``sendTimeout``.
    /// After ``NetworkChange/lost`` no connection is possible, so true keeps the old one for as long as ``sendTimeout``
    /// allows. False ends the push. Called on the push's own thread; it must not block.
    public var goesOnAfterNetworkChange: @Sendable (NetworkChange) -> Bool = { _ in true }

    /// Changes a picture before it is encoded, as a watermark does. It must keep the picture's size. Called on the
    /// encoder's thread.
    public typealias Filter = @Sendable (inout I420Picture) -> Void

    /// Changes each picture between its scaling and the encoder, which no other push shares then. Without `video`, the
    /// pictures are encoded with `VideoSettings()`: in the source's size, at 24 fps and 1,024 kbit/s.
    ///
    /// Called on the encoder's thread for each picture that is encoded, also once a second while nothing changes. The
    /// time that it takes delays the picture. If it changes the size, the push fails.
    public var filter: Filter?

    /// The sizes that ``sendBuffer`` may have.
    public static let sendBuffers = 16 << 10...16 << 20

    /// Settings without retries.
    public init() {}

    /// Whether these settings suit a WebRTC server, which gets the packets that viewers get.
    public var suitsWebRTC: Bool { video == nil && sound == nil && filter == nil && content != .sound }

    /// Checks all that can be checked before the size of the source is known.
    func check(for target: PushTarget) throws(OutputSettingsError) {
        guard suitsWebRTC || !target.takesWebRTC else {
            throw OutputSettingsError(
                "a WebRTC server gets the same packets as viewers; only its sound can be left out")
        }
        guard Self.sendBuffers.contains(sendBuffer) else {
            throw OutputSettingsError("its send buffer has \(sendBuffer) bytes; it may have 16 KiB to 16 MiB")
        }
        try video?.check()
        try sound?.check()
    }
}

/// An event that a push reports to its user.
public enum PushEvent: Sendable {
    /// The push is in another state. ``OutputState/error`` and ``OutputState/autoReconnecting`` have a reason, and
    /// ``OutputState/autoReconnecting`` is reported again if another try fails for another reason.
    case changed(OutputState, because: OutputError?)
    /// The push's status, at regular times while it is connected.
    case status(PushStatus)
    /// A fifth of the pictures or more hasn't been sent for three seconds, or over SRT a fifth of the packets was lost.
    case weakNetwork
}

/// The rates of a push since its last status, its queue, and the counts of its connection.
public struct PushStatus: Hashable, Sendable {
    /// The rates since the last status.
    public var rates = OutputMeter.Rates()
    /// How long the oldest frame has waited.
    public var queueAge = Interval.zero
    /// The bytes of the frames and packets that wait to be sent.
    public var queueByteCount = 0
    /// The pictures that this connection has sent.
    public var sentPictures = 0
    /// The pictures that this connection has left out.
    public var droppedPictures = 0
    /// The audio packets that this connection has sent, including packets of silence.
    public var sentSound = 0
    /// The packets of the track's sound that this connection has left out.
    public var droppedSound = 0
}

/// Sends a track to another machine, for as long as it lives.
///
/// A push counts as a viewer if it sends pictures, and as a listener if it sends sound. Its failures affect nothing
/// else. Methods may be called on any thread, and don't wait for the network.
public final class Push: Sendable {
    /// The push's target.
    public let target: PushTarget
    let mailbox: Mailbox<Order>
    private let listeners: PushListeners

    enum Order: Sendable {
        case event(OutputLife.Event)
        case networkChanged(NetworkChange)
        /// The push's track may have begun or ended.
        case trackChanged
        case reload(PushSettings)
        case end
    }

    /// Prepares a push of `track`; `start` starts it.
    ///
    /// `onEvent` is called on the push's own thread with each of the ``events``, and must not block.
    ///
    /// - Throws: ``OutputSettingsError`` if the settings exceed a limit or don't suit the target, or if the process has
    ///   no thread or descriptor left.
    public convenience init(
        _ track: HostedTrack, to target: PushTarget, settings: PushSettings = PushSettings(),
        onEvent: @escaping @Sendable (PushEvent) -> Void = { _ in }
    ) throws(OutputSettingsError) {
        try self.init(FollowedTrack(track), to: target, settings: settings, onEvent: onEvent)
    }

    /// Prepares a push of a track that may begin, end and return. While it doesn't exist, a push that has been started
    /// is in ``OutputState/waiting``. When it ends, the push sends its queue, for three seconds at most, and ends the
    /// connection; when it returns, the push connects again, with all its tries. Otherwise as the initializer above.
    ///
    /// - Throws: ``OutputSettingsError`` if the settings exceed a limit or don't suit the target, or if the process has
    ///   no thread or descriptor left.
    public convenience init(
        _ track: FollowedTrack, to target: PushTarget, settings: PushSettings = PushSettings(),
        onEvent: @escaping @Sendable (PushEvent) -> Void = { _ in }
    ) throws(OutputSettingsError) {
        let isRemote = target.isRemote
        try self.init(
            track, to: target, settings: settings, changes: { isRemote ? NetworkChanges.shared() : nil },
            onEvent: onEvent)
    }

    /// Prepares a push that follows the changes of this machine's network. `changes` is called on the push's own
    /// thread, since the kernel's answer may need a while.
    init(
        _ track: FollowedTrack, to target: PushTarget, settings: PushSettings,
        changes: @escaping @Sendable () -> NetworkChanges?,
        onEvent: @escaping @Sendable (PushEvent) -> Void = { _ in }
    ) throws(OutputSettingsError) {
        try settings.check(for: target)
        self.target = target
        listeners = PushListeners(onEvent)
        guard let mailbox = Mailbox<Order>() else { throw OutputSettingsError("no file descriptor is left for a push") }
        self.mailbox = mailbox
        let control = PushControl(track, to: target, settings: settings, mailbox: mailbox, listeners: listeners)
        let taken = Sent(control)
        let thread = NamedThread("push control", blocksSignals: true) {
            let unfollow = track.subscribe { mailbox.post(.trackChanged) }
            // It may have changed before.
            mailbox.post(.trackChanged)
            let unsubscribe = changes()?.subscribe { mailbox.post(.networkChanged($0)) }
            var control = taken.value
            control.run()
            unsubscribe?()
            unfollow()
        }
        guard thread != nil else { throw OutputSettingsError("no thread is left for a push") }
    }

    /// Prepares a push to a fixed address.
    ///
    /// - Throws: ``OutputSettingsError`` as for a ``PushTarget``.
    public convenience init(
        _ track: HostedTrack, to address: PushAddress, settings: PushSettings = PushSettings(),
        onEvent: @escaping @Sendable (PushEvent) -> Void = { _ in }
    ) throws(OutputSettingsError) {
        try self.init(track, to: PushTarget(address), settings: settings, onEvent: onEvent)
    }

    deinit {
        mailbox.post(.end)
    }

    /// Connects, and sends until the push is stopped. Returns at once; `onEvent` reports what happens.
    public func start() { mailbox.post(.event(.start)) }
    /// Sends the queue, for three seconds at most, and ends.
    public func stop() { mailbox.post(.event(.stop)) }
    /// Reconnects at once, in any state but ``OutputState/unknown``: a push that has not been started stays so.
    public func restart() { mailbox.post(.event(.restart)) }

    /// Applies other settings. If the push isn't running, they are for its next start or try.
    ///
    /// The connection goes on if `content`, `video`, `sound`, `sendTimeout`, `sendBuffer` and `keyFrameInterval` are
    /// unchanged, and there is no filter, before and after. If the push's encoder adapts its rate, before and after,
    /// the bit rate and how far the rates may fall may differ too. Otherwise the push reconnects at once, which viewers
    /// of the other service may see as a short break.
    ///
    /// - Throws: ``OutputSettingsError`` if the settings exceed a limit; nothing changes then.
    public func reload(_ settings: PushSettings) throws(OutputSettingsError) {
        try settings.check(for: target)
        mailbox.post(.reload(settings))
    }

    /// The push's state.
    public var state: OutputState { listeners.state }
    /// The reason for the failure in ``OutputState/error``, or for the retry in ``OutputState/autoReconnecting``.
    public var failure: OutputError? { listeners.failure }
    /// The last status, if the push is connected and has been for long enough.
    public var status: PushStatus? { listeners.status }
    /// The events from now on; each call returns another sequence, which ends with the push.
    public var events: AsyncStream<PushEvent> { listeners.makeStream() }
}

extension ScreenRelayHost {
    /// Pushes the first track of the host to `address`, and starts at once. The push ends when it is released.
    ///
    /// - Throws: ``OutputSettingsError`` if the process has no thread or descriptor left.
    public func push(to address: PushAddress, settings: PushSettings = PushSettings()) throws(OutputSettingsError)
        -> Push
    {
        try push(to: PushTarget(address), settings: settings)
    }

    /// Pushes the first track of the host to `target`, and starts at once. The push ends when it is released.
    ///
    /// - Throws: ``OutputSettingsError`` if the process has no thread or descriptor left.
    public func push(to target: PushTarget, settings: PushSettings = PushSettings()) throws(OutputSettingsError) -> Push
    {
        let push = try Push(firstTrack, to: target, settings: settings)
        push.start()
        return push
    }
}
