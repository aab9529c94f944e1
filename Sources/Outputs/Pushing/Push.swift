public import MediaTypes
public import OutputLife
public import OutputSettings
public import ScreenRelayKit
import Threading

/// What doesn't change while a push runs.
public struct PushSettings: Sendable {
    /// How often it tries again by itself after a failure, 0 to 3.
    public var tries = 0
    /// The longest that connecting may take, and that the other side may take nothing.
    public var connectTimeout = Interval.seconds(10)
    public var sendTimeout = Interval.seconds(10)
    /// How often a status comes.
    public var statusPeriod = Interval.seconds(3)
    /// While pictures come, a key frame is asked for as often as this: whoever watches by the other service can begin
    /// only with one. It is asked of the source, so all viewers of the track get it.
    public var keyFrameInterval = Interval.seconds(3)
    /// How the pictures are encoded once more; nil passes the source's frames on as they are.
    public var video: VideoSettings?

    /// Settings by which nothing is tried again.
    public init() {}
}

/// What a push tells its user.
public enum PushEvent: Sendable {
    /// It is in another state; for ``OutputState/error``, `failed` comes instead.
    case changed(OutputState)
    /// It has ended because of an error.
    case failed(OutputFailure)
    /// What it does, at regular times while it is connected.
    case status(PushStatus)
    /// A fifth of the pictures or more hasn't been sent for three seconds.
    case weakNetwork
}

/// What a push has sent since its last status, and what waits.
public struct PushStatus: Hashable, Sendable {
    public var rates = OutputMeter.Rates()
    /// How long the oldest frame has waited.
    public var queueAge = Interval.zero
    public var queueByteCount = 0
    /// The pictures that this connection has sent, and that it has left out.
    public var sentPictures = 0
    public var droppedPictures = 0
}

/// Sends a track to another machine, for as long as it lives.
///
/// It counts as a viewer, and whatever happens to it affects nothing else. Methods may be called on any thread, and
/// don't wait for the network.
public final class Push: Sendable {
    /// Where it goes.
    public let address: PushAddress
    private let mailbox: Mailbox<Order>
    private let listeners: PushListeners

    enum Order: Sendable {
        case event(OutputLife.Event)
        case end
    }

    /// Prepares a push of `track`; `start` starts it.
    ///
    /// `onEvent` is called on the push's own thread with the same as ``events``, and must not block.
    ///
    /// - Throws: ``OutputError`` if the settings exceed a limit, or if the process has no thread or descriptor left.
    public init(
        _ track: HostedTrack, to address: PushAddress, settings: PushSettings = PushSettings(),
        onEvent: @escaping @Sendable (PushEvent) -> Void = { _ in }
    ) throws(OutputError) {
        do throws(VideoSettingsError) {
            try settings.video?.check()
        } catch {
            throw OutputError("\(error)")
        }
        self.address = address
        listeners = PushListeners(onEvent)
        guard let mailbox = Mailbox<Order>() else { throw OutputError("no file descriptor is left for a push") }
        self.mailbox = mailbox
        let control = PushControl(track, to: address, settings: settings, mailbox: mailbox, listeners: listeners)
        let taken = Sent(control)
        let thread = NamedThread("push control", blocksSignals: true) {
            var control = taken.value
            control.run()
        }
        guard thread != nil else { throw OutputError("no thread is left for a push") }
    }

    deinit {
        mailbox.post(.end)
    }

    public func start() { mailbox.post(.event(.start)) }
    /// Sends what waits, for three seconds at most, and ends.
    public func stop() { mailbox.post(.event(.stop)) }
    /// Begins anew at once, whatever it does.
    public func restart() { mailbox.post(.event(.restart)) }

    /// What it is doing.
    public var state: OutputState { listeners.state }
    /// Why it has failed, if it is in ``OutputState/error``.
    public var failure: OutputFailure? { listeners.failure }
    /// What it did last, if it is connected and has been for long enough.
    public var status: PushStatus? { listeners.status }
    /// What happens from now on; each call gives another sequence, which ends with the push.
    public var events: AsyncStream<PushEvent> { listeners.makeStream() }
}

extension ScreenRelayHost {
    /// Pushes the first track of the host to `address`, and starts at once. The push ends when it is released.
    ///
    /// - Throws: ``OutputError`` if the process has no thread or descriptor left.
    public func push(to address: PushAddress, settings: PushSettings = PushSettings()) throws(OutputError) -> Push {
        let push = try Push(firstTrack, to: address, settings: settings)
        push.start()
        return push
    }
}
