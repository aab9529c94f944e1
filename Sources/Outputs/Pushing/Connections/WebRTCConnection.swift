import Clocks
import MediaSessions
import MediaTypes
import OutputLife
import ScreenRelayKit
import Synchronization
import WebRTCPushing

/// One attempt of a push to a WebRTC server: a session that the server accepts, and that the media thread serves like a
/// viewer's session.
final class WebRTCConnection: PushAttempt {
    /// How long the server may be silent before another connection is tried: two requests, each sent at least twice.
    /// Without retries, the limit is ``PushSettings/sendTimeout``.
    private static let timeout = Interval.milliseconds(2_500)
    /// The part of the connect timeout that is left for the steps after the server has been reached.
    private static let reserve = Interval.seconds(1)
    /// How often to look for audio: a silent source sends no event.
    private static let soundInterval = Interval.milliseconds(100)

    let number: Int
    private let server: WebRTCServer
    private let track: HostedTrack
    private let settings: PushSettings
    private let isRepeated: Bool
    /// Whether the attempt waits for a source, whose sound isn't known either.
    private let isEarly: Bool
    private let report: @Sendable (OutputLife.Event) -> Void
    private let shared = Mutex(Shared())

    private struct Shared {
        /// Waits for the first picture; nil once there is one.
        var subscription: TrackSubscription?
        /// Requests the first picture.
        var start = StartRequest()
        /// When the first picture arrived.
        var pictureAt: MonotonicTime?
        /// When to look for sound.
        var soundDue = MonotonicTime.distantFuture
        /// The kinds offered to the server; empty before the offer.
        var offered: Set<TrackFormat.Kind> = []
        var session: TrackSession?
        var connection: ServerConnection?
        /// The TURN servers that the server has named, and the way by them where UDP doesn't get through.
        var named: NamedServers?
        var relay: ServerRelay?
        /// The amounts sent when the rates were last asked for.
        var counted = (pictures: 0, sound: 0, octets: UInt64(0), at: MonotonicTime.zero)
        var getsLowLayer = false
        var isOver = false
    }

    /// Begins an attempt. In a retry after a failure, a server that isn't listening is asked again until the connect
    /// timeout is nearly over. `report` is called on other threads, and `wake` on the source's when ``collect()`` has
    /// something to do.
    init(
        _ number: Int, to server: WebRTCServer, of track: HostedTrack, settings: PushSettings, isRepeated: Bool,
        wake: @escaping @Sendable () -> Void, report: @escaping @Sendable (OutputLife.Event) -> Void
    ) {
        self.number = number
        self.server = server
        self.track = track
        self.settings = settings
        self.isRepeated = isRepeated
        self.report = report
        isEarly = !track.hasPictures
        let subscription = track.subscribe(wake: wake)
        // While there are viewers, the next key frame may be minutes away.
        track.requestStart()
        shared.withLock { shared in
            shared.subscription = subscription
            shared.start.begin(at: MonotonicTime.now())
            if settings.content == .both { shared.soundDue = MonotonicTime.now() + PushSource.pictureTimeout }
        }
        // There may be a picture already.
        wake()
    }

    deinit { abandon() }

    var deadline: MonotonicTime {
        shared.withLock { $0.subscription == nil ? .distantFuture : min($0.start.deadline, $0.soundDue) }
    }

    /// Begins to connect with the first picture: some servers end a session that sends nothing for some seconds. A
    /// source that has sound and no pictures is sent too.
    func collect() {
        guard let subscription = shared.withLock({ $0.subscription }) else { return }
        let now = MonotonicTime.now()
        if !subscription.take().isEmpty {
            shared.withLock { shared in
                shared.start.end()
                shared.pictureAt = shared.pictureAt ?? now
            }
        }
        guard let kinds = kindsToOffer(now) else {
            if shared.withLock({ $0.start.takeDue(at: now) }) { track.requestKeyFrame() }
            return
        }
        shared.withLock { shared in
            shared.start.end()
            shared.offered = kinds
        }
        connect(kinds)
        // Not earlier, so that the source has a viewer all the time.
        let done = shared.withLock { shared in
            defer { shared.subscription = nil }
            return shared.subscription
        }
        // Its end notifies other objects, which must not happen under the lock.
        _ = done
    }

    /// The kinds to offer to the server: those of the source, and also kinds that may begin later, if that can do no
    /// harm. Nil while the source's kinds are still to be waited for.
    private func kindsToOffer(_ now: MonotonicTime) -> Set<TrackFormat.Kind>? {
        let (pictureAt, soundDue) = shared.withLock { ($0.pictureAt, $0.soundDue) }
        let all: Set<TrackFormat.Kind> = [.video, .audio]
        if let pictureAt {
            guard settings.content == .both else { return [.video] }
            if !server.waitsForAll || track.hasSound { return all }
            if !isEarly || now - pictureAt >= PushSource.soundTimeout { return [.video] }
        } else {
            guard now >= soundDue else { return nil }
            if track.isHeardAlone { return server.waitsForAll ? [.audio] : all }
        }
        shared.withLock { $0.soundDue = now + Self.soundInterval }
        return nil
    }

    private func connect(_ kinds: Set<TrackFormat.Kind>) {
        report(.dialled(attempt: number))
        let (number, report) = (number, report)
        do throws(MediaSessionError) {
            let session = try track.offer(kinds, controlling: true) { reason in
                report(.failed(attempt: number, OutputError(reason)))
            }
            // The answer may come before the next line is done.
            shared.withLock { $0.session = session }
            let connection = ServerConnection(
                server, offer: session.description,
                timeout: isRepeated ? settings.connectTimeout - Self.reserve : .zero
            ) { [weak self] in self?.take($0) }
            let isOver = shared.withLock { shared in
                shared.connection = connection
                return shared.isOver
            }
            if isOver { return abandon() }
            if connection == nil { report(.failed(attempt: number, OutputError("no thread is left"))) }
        } catch {
            report(.failed(attempt: number, OutputError("\(error)")))
        }
    }

    /// On the server connection's thread.
    private func take(_ event: ServerConnection.Event) {
        switch event {
        case .named(let servers): shared.withLock { $0.named = servers }
        case .answered(let answer): accept(answer)
        case .failed(let failure): report(.failed(attempt: number, failure))
        case .closed:
            shared.withLock { $0.session }?.close()
            report(.closed(attempt: number))
        }
    }

    private func accept(_ answer: String) {
        let (number, report) = (number, report)
        let timeout = settings.tries > 0 ? min(Self.timeout, settings.sendTimeout) : settings.sendTimeout
        do throws(MediaSessionError) {
            let session = shared.withLock { $0.session }
            try session?.accept(answer: answer)
            prepareRelay(session, answer)
            session?.enableKeepalive(timeout: timeout) { [weak self] in
                let relay = self?.shared.withLock { shared in
                    shared.counted.at = MonotonicTime.now()
                    return shared.relay
                }
                relay?.settle()
                report(.opened(attempt: number))
            }
        } catch {
            report(.failed(attempt: number, OutputError("the server's answer can't be used: \(error)")))
        }
    }

    /// Prepares a TURN server that the WHIP server has named, for the case that the session doesn't connect directly.
    private func prepareRelay(_ session: TrackSession?, _ answer: String) {
        guard let session, let named = shared.withLock({ $0.named }) else { return }
        let relay = ServerRelay(by: named, offer: session.description, answer: answer) { [weak session] candidate in
            session?.add(candidate: candidate)
        }
        shared.withLock { if !$0.isOver { $0.relay = relay } }
    }

    func close() { shared.withLock { $0.connection }?.close() }

    func abandon() {
        let (subscription, session, connection, relay) = shared.withLock { shared in
            shared.isOver = true
            // The connection stays: it may be waited for.
            defer { (shared.subscription, shared.session, shared.relay) = (nil, nil, nil) }
            return (shared.subscription, shared.session, shared.connection, shared.relay)
        }
        connection?.abandon()
        session?.close()
        // Their ends notify other objects, which must not happen under the lock.
        _ = (subscription, relay)
    }

    func join(until deadline: MonotonicTime) {
        let connection = shared.withLock { $0.connection }
        connection?.join(until: deadline)
    }

    var isStale: Bool {
        let offered = shared.withLock { $0.offered }
        guard settings.content == .both, !offered.isEmpty else { return false }
        return !offered.contains(.audio) && track.hasSound || !offered.contains(.video) && track.hasPictures
    }

    private var statistics: PeerStatistics? { shared.withLock { $0.session }?.statistics }

    func takeRates(_ now: MonotonicTime) -> OutputMeter.Rates {
        guard let statistics else { return OutputMeter.Rates() }
        return shared.withLock { shared in
            let before = shared.counted
            shared.counted = (statistics.framesSent, statistics.sentSoundPackets, statistics.sentOctets, now)
            let seconds = max((now - before.at).seconds, 0.001)
            var rates = OutputMeter.Rates()
            rates.picturesPerSecond = Double(statistics.framesSent - before.pictures) / seconds
            rates.soundPerSecond = Double(statistics.sentSoundPackets - before.sound) / seconds
            let octets = statistics.sentOctets - min(before.octets, statistics.sentOctets)
            rates.bitRate = BitRate(bitsPerSecond: Int(Double(octets) * 8 / seconds))
            return rates
        }
    }

    /// Returns whether the path has turned out, since the last call, to carry fewer pictures than there are.
    func takeWeakness(_ now: MonotonicTime) -> Bool {
        let getsLowLayer = statistics?.getsLowLayer == true
        return shared.withLock { shared in
            defer { shared.getsLowLayer = getsLowLayer }
            return getsLowLayer && !shared.getsLowLayer
        }
    }

    /// The queue is the session's, which drops packets that its path doesn't carry.
    func backlog(_ now: MonotonicTime) -> PushBacklog {
        var backlog = PushBacklog()
        guard let statistics else { return backlog }
        backlog.sent = (statistics.framesSent, statistics.sentSoundPackets)
        return backlog
    }
}
