import Clocks
import MediaTypes
import OutputLife
import OutputSettings
import ScreenRelayKit
import Threading

/// What runs on a push's control thread: its life, and what that asks for.
struct PushControl {
    private let track: HostedTrack
    private let address: PushAddress
    private let settings: PushSettings
    private let mailbox: Mailbox<Push.Order>
    private let listeners: PushListeners
    private var life: OutputLife
    private var connection: PushConnection?
    /// The encoder of this push alone, whose rate follows the path; nil if its rate is fixed.
    private var adapting: (encoder: Reencoder, rate: AdaptiveRate, sentByteCount: Int64, at: MonotonicTime)?
    private var statusDue = MonotonicTime.distantFuture

    init(
        _ track: HostedTrack, to address: PushAddress, settings: PushSettings, mailbox: Mailbox<Push.Order>,
        listeners: PushListeners
    ) {
        self.track = track
        self.address = address
        self.settings = settings
        self.mailbox = mailbox
        self.listeners = listeners
        var living = OutputLife.Settings()
        living.tries = settings.tries
        living.connectTimeout = settings.connectTimeout
        life = OutputLife(living)
    }

    mutating func run() {
        while true {
            let second = life.state == .connected ? MonotonicTime.now() + .seconds(1) : .distantFuture
            mailbox.wake.wait(until: min(life.deadline, statusDue, second))
            for order in mailbox.take() {
                switch order {
                case .event(let event): perform(life.handle(event, at: MonotonicTime.now(), random: .random(in: 0..<1)))
                case .end:
                    connection?.abandon()
                    listeners.finish()
                    return
                }
            }
            connection?.collect()
            let now = MonotonicTime.now()
            perform(life.poll(at: now, random: .random(in: 0..<1)))
            tellStatus(now)
        }
    }

    private mutating func perform(_ actions: [OutputLife.Action]) {
        for action in actions {
            switch action {
            case .open(let attempt): open(attempt)
            case .close: connection?.close()
            case .abandon: drop()
            case .tell(let state):
                if state == .disconnected || state == .autoReconnecting { drop() }
                statusDue = state == .connected ? MonotonicTime.now() + settings.statusPeriod : .distantFuture
                listeners.tell(.changed(state))
            case .fail(let failure):
                drop()
                statusDue = .distantFuture
                listeners.tell(.failed(failure))
            }
        }
    }

    /// Lets the attempt go, and with it the encoder, if nobody else has it.
    private mutating func drop() {
        connection?.abandon()
        (connection, adapting) = (nil, nil)
    }

    private mutating func open(_ attempt: Int) {
        let mailbox = mailbox
        connection = makeSource().flatMap { [address, settings] in
            PushConnection(attempt, to: address, of: $0, settings: settings) {
                mailbox.wake.signal()
            } report: {
                mailbox.post(.event($0))
            }
        }
        if connection == nil {
            mailbox.post(.event(.failed(attempt: attempt, OutputFailure("no thread or file descriptor is left"))))
        }
    }

    /// An encoder runs only while somebody has it, so it is asked for with each attempt.
    private mutating func makeSource() -> PushSource? {
        adapting = nil
        guard let video = settings.video else { return .track(track) }
        guard let lowest = video.lowestBitRate else { return Reencoder.shared(track, video).map { .encoder($0) } }
        guard let encoder = Reencoder(track, video) else { return nil }
        adapting = (encoder, AdaptiveRate(lowest: lowest, highest: video.bitRate), 0, MonotonicTime.now())
        return .encoder(encoder)
    }

    /// Once a second.
    private mutating func adapt(to backlog: PushConnection.Backlog, _ now: MonotonicTime) {
        guard var current = adapting, now - current.at >= .milliseconds(900) else { return }
        let bits = Double(backlog.sentByteCount - current.sentByteCount) * 8 / (now - current.at).seconds
        let hasChanged = current.rate.update(
            queueAge: backlog.age, sent: BitRate(bitsPerSecond: Int(bits)), at: now)
        (current.sentByteCount, current.at) = (backlog.sentByteCount, now)
        if hasChanged { current.encoder.setRate(current.rate.rate) }
        adapting = current
    }

    private mutating func tellStatus(_ now: MonotonicTime) {
        guard life.state == .connected, let connection else { return }
        if connection.isWeak(now) { listeners.tell(.weakNetwork) }
        let backlog = connection.backlog(now)
        adapt(to: backlog, now)
        guard now >= statusDue else { return }
        statusDue = now + settings.statusPeriod
        listeners.tell(
            .status(
                PushStatus(
                    rates: connection.takeRates(now), queueAge: backlog.age, queueByteCount: backlog.byteCount,
                    sentPictures: backlog.sentPictures, droppedPictures: backlog.droppedPictures)))
    }
}
