import Clocks
import MediaTypes
import OutputLife
import OutputSettings
import ScreenRelayKit
import Threading

/// Runs on a push's control thread: keeps the push's life, and carries out its actions.
struct PushControl {
    private let followed: FollowedTrack
    /// The track that is sent; nil while there is none.
    private var track: HostedTrack?
    private let target: PushTarget
    private var settings: PushSettings
    private let mailbox: Mailbox<Push.Order>
    private let listeners: PushListeners
    private var life: OutputLife
    private var connection: (any PushAttempt)?
    /// The push's own encoder, whose rate follows the path; nil if the rate is fixed.
    private var adapting: (encoder: Reencoder, rate: AdaptiveRate, sentPictureBytes: Int64, at: MonotonicTime)?
    private var statusDue = MonotonicTime.distantFuture
    /// The connection that ends because another one is to begin with more media, and when the old one is given up.
    private var ending: (attempt: Int, until: MonotonicTime)?

    init(
        _ followed: FollowedTrack, to target: PushTarget, settings: PushSettings, mailbox: Mailbox<Push.Order>,
        listeners: PushListeners
    ) {
        self.followed = followed
        track = followed.current
        self.target = target
        self.settings = settings
        self.mailbox = mailbox
        self.listeners = listeners
        life = OutputLife(settings.life, hasTrack: track != nil)
    }

    mutating func run() {
        while true {
            let second = life.state == .connected ? MonotonicTime.now() + .seconds(1) : .distantFuture
            let ended = min(ending?.until ?? .distantFuture, connection?.deadline ?? .distantFuture)
            mailbox.wake.wait(until: min(life.deadline, statusDue, second, ended))
            for order in mailbox.take() {
                switch order {
                case .event(let event) where reconnects(after: event): handle(.restart)
                case .event(let event):
                    // The user may be told nothing, if the reason is unchanged.
                    if case .failed(let attempt, _) = event, attempt == connection?.number { drop() }
                    handle(event)
                case .networkChanged(let change): networkChanged(change)
                case .trackChanged: followTrack()
                case .reload(let settings): reload(settings)
                case .end:
                    connection?.abandon()
                    listeners.finish()
                    return
                }
            }
            connection?.collect()
            let now = MonotonicTime.now()
            restartIfStale(now)
            perform(life.poll(at: now, random: .random(in: 0..<1)))
            tellStatus(now)
        }
    }

    /// Whether `event` is an end after which the push connects again at once, without counting it as a failure.
    private func reconnects(after event: OutputLife.Event) -> Bool {
        switch event {
        case .closed(let attempt):
            if attempt == ending?.attempt { return true }
            // It has ended its file, and another one begins.
            return life.state == .connected && attempt == connection?.number && connection?.isStale == true
        case .failed(let attempt, _):
            // The rest of its queue isn't needed.
            if attempt == ending?.attempt { return true }
            // The receiver has left: the next one is waited for.
            return target.isListener && life.state == .connected && attempt == connection?.number
        case .start, .stop, .restart, .networkChanged, .trackCame, .trackLeft, .dialled, .opened: return false
        }
    }

    /// Ends with the track, and begins with the one that has come.
    private mutating func followTrack() {
        let current = followed.current
        guard current !== track else { return }
        if track != nil { handle(.trackLeft) }
        track = current
        if current != nil { handle(.trackCame) }
    }

    private mutating func handle(_ event: OutputLife.Event) {
        if event == .restart || (event == .stop || event == .trackLeft) && life.state == .connecting { leave() }
        perform(life.handle(event, at: MonotonicTime.now(), random: .random(in: 0..<1)))
    }

    /// Tells a WebRTC server of the end before another attempt or the program's end: the server may have only one place
    /// for us, or keep a session that isn't ended.
    private func leave() {
        guard target.takesWebRTC, let connection else { return }
        connection.abandon()
        connection.join(until: MonotonicTime.now() + .seconds(2))
    }

    private mutating func networkChanged(_ change: NetworkChange) {
        guard !life.state.isOver else { return }
        let goesOn = settings.goesOnAfterNetworkChange(change)
        // Without a route no connection is possible, and if the old route is back soon, the connection goes on.
        if goesOn, change == .lost { return }
        handle(.networkChanged(goesOn: goesOn))
    }

    /// Restarts a connection that lacks sound or pictures which have begun since, because a stream's header announces
    /// both. The old connection ends first, and a pending attempt is waited for: a server may refuse two senders for
    /// one name.
    private mutating func restartIfStale(_ now: MonotonicTime) {
        if let ending {
            if now >= ending.until { handle(.restart) }
        } else if let connection, connection.isStale {
            switch life.state {
            // No receiver has connected yet.
            case .connecting where target.isListener: handle(.restart)
            case .connected:
                connection.close()
                ending = (connection.number, now + life.settings.closeTimeout)
            case .unknown, .waiting, .connecting, .disconnecting, .disconnected, .error, .autoReconnecting: break
            }
        }
    }

    private mutating func reload(_ new: PushSettings) {
        let old = settings
        settings = new
        life.settings = new.life
        guard connection != nil, life.state != .disconnecting else { return }
        guard new.sendTimeout == old.sendTimeout, new.keyFrameInterval == old.keyFrameInterval,
            new.content == old.content, new.sound == old.sound, new.sendBuffer == old.sendBuffer,
            // Closures can't be compared.
            new.filter == nil, old.filter == nil, new.video == old.video || changesRates(from: old.video)
        else { return handle(.restart) }
        if life.state == .connected { statusDue = MonotonicTime.now() + new.statusPeriod }
    }

    /// Gives the push's own encoder the rates of the present settings; false if the push needs another encoder.
    private mutating func changesRates(from old: VideoSettings?) -> Bool {
        guard var current = adapting, let old, let new = settings.video, let rates = new.adaptation,
            new.withoutRates == old.withoutRates
        else { return false }
        current.rate = AdaptiveRate(lowest: rates.lowest, highest: rates.highest)
        current.encoder.setPace(new.pace(at: rates.highest))
        adapting = current
        return true
    }

    private mutating func perform(_ actions: [OutputLife.Action]) {
        for action in actions {
            switch action {
            case .open(let attempt): open(attempt)
            case .close:
                ending = nil
                // The newest frames are sent too.
                connection?.collect()
                connection?.close()
            case .abandon: drop()
            case .tell(let state, let failure):
                if state.isOver || state == .autoReconnecting || state == .waiting { drop() }
                statusDue = state == .connected ? MonotonicTime.now() + settings.statusPeriod : .distantFuture
                listeners.tell(.changed(state, because: failure))
            }
        }
    }

    /// Releases the attempt, and with it the encoder, if no other push uses it.
    private mutating func drop() {
        connection?.abandon()
        // Two can't listen at one place. An attempt asks ten times a second whether it is over.
        if target.isListener { connection?.join(until: MonotonicTime.now() + .seconds(1)) }
        (connection, adapting, ending) = (nil, nil, nil)
    }

    private mutating func open(_ attempt: Int) {
        // The connection of a track that has ended is still there.
        drop()
        guard let track else { return }
        let mailbox = mailbox
        let wake: @Sendable () -> Void = { mailbox.wake.signal() }
        let report: @Sendable (OutputLife.Event) -> Void = { mailbox.post(.event($0)) }
        connection =
            if let server = target.server {
                WebRTCConnection(
                    attempt, to: server, of: track, settings: settings, isRepeated: life.triesMade > 0, wake: wake,
                    report: report)
            } else {
                makeSource(of: track).flatMap { [target, settings] in
                    PushConnection(
                        attempt, to: target, of: track, $0, settings: settings, wake: wake, report: report)
                }
            }
        if connection == nil {
            mailbox.post(.event(.failed(attempt: attempt, OutputError("no thread or file descriptor is left"))))
        }
    }

    /// An encoder runs only while it is used, so each attempt asks for it.
    private mutating func makeSource(of track: HostedTrack) -> PushSource? {
        if settings.content == .sound { return .nothing }
        guard let video = settings.video ?? settings.filter.map({ _ in VideoSettings() }) else { return .track(track) }
        let rates = video.adaptation
        if rates == nil, settings.filter == nil { return Reencoder.shared(track, video).map { .encoder($0) } }
        guard let encoder = Reencoder(track, video, filter: settings.filter) else { return nil }
        if let rates {
            adapting = (encoder, AdaptiveRate(lowest: rates.lowest, highest: rates.highest), 0, MonotonicTime.now())
        }
        return .encoder(encoder)
    }

    /// Once a second.
    private mutating func adapt(to backlog: PushBacklog, _ now: MonotonicTime) {
        guard var current = adapting, let video = settings.video, now - current.at >= .milliseconds(900) else { return }
        // Sound goes first, so the pictures get what it leaves.
        let bits = Double(backlog.sentPictureBytes - current.sentPictureBytes) * 8 / (now - current.at).seconds
        let hasChanged = current.rate.update(
            queueAge: max(backlog.age, backlog.path.excess), sent: BitRate(bitsPerSecond: Int(bits)),
            lostShare: backlog.path.lostShare, at: now)
        (current.sentPictureBytes, current.at) = (backlog.sentPictureBytes, now)
        if hasChanged { current.encoder.setPace(video.pace(at: current.rate.rate)) }
        adapting = current
    }

    private mutating func tellStatus(_ now: MonotonicTime) {
        guard life.state == .connected, let connection else { return }
        if connection.takeWeakness(now) { listeners.tell(.weakNetwork) }
        let backlog = connection.backlog(now)
        adapt(to: backlog, now)
        guard now >= statusDue else { return }
        statusDue = now + settings.statusPeriod
        listeners.tell(
            .status(
                PushStatus(
                    rates: connection.takeRates(now), queueAge: backlog.age, queueByteCount: backlog.byteCount,
                    sentPictures: backlog.sent.pictures, droppedPictures: backlog.dropped.pictures,
                    sentSound: backlog.sent.sound, droppedSound: backlog.dropped.sound)))
    }
}

extension PushSettings {
    fileprivate var life: OutputLife.Settings {
        var life = OutputLife.Settings()
        life.tries = tries
        life.connectTimeout = connectTimeout
        return life
    }
}

extension VideoSettings {
    /// The settings without what an encoder that adapts its rate can change while it runs.
    fileprivate var withoutRates: VideoSettings {
        var settings = self
        settings.bitRate = VideoSettings().bitRate
        (settings.lowestBitRate, settings.lowestFramesPerSecond) = (nil, nil)
        return settings
    }
}
