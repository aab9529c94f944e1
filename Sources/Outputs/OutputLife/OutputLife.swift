public import MediaTypes

/// The life of an output: when it connects, which states its user is told, and when it tries again.
///
/// A pure value without a clock: events go in, with their times on the caller's monotonic clock, and actions come out.
/// Two threads must not use it at once.
public struct OutputLife: Sendable {
    /// How often an output tries, and how long it waits.
    public struct Settings: Hashable, Sendable {
        /// The number of automatic retries after a failure, 0 to 3. Where its name may be in use at the server, it
        /// tries again for ``OutputLife/nameTime`` in any case.
        public var tries = 0
        /// The longest that an attempt may take.
        public var connectTimeout = Interval.seconds(10)
        /// The longest time for sending the queue after a stop.
        public var closeTimeout = Interval.seconds(3)

        /// Settings without retries.
        public init() {}
    }

    /// An event. An attempt has the number that `Action.open` gave it; events of an older attempt are ignored.
    public enum Event: Hashable, Sendable {
        /// The user starts the output.
        case start
        /// The user stops it.
        case stop
        /// The user restarts it, in whatever state it is.
        case restart
        /// The machine's way to the network has changed; the user has been asked whether to go on.
        case networkChanged(goesOn: Bool)
        /// The track that the output sends exists from now on.
        case trackCame
        /// The track has ended; it may return.
        case trackLeft
        /// There is something to send, and the attempt begins to connect; from here on the attempt's time counts.
        case dialled(attempt: Int)
        /// The other side has accepted the connection.
        case opened(attempt: Int)
        /// The attempt or the connection has failed.
        case failed(attempt: Int, OutputError)
        /// All has been sent after `Action.close`.
        case closed(attempt: Int)
    }

    /// An action to carry out. The actions of one event are in the order in which they are to be done.
    public enum Action: Hashable, Sendable {
        /// Open a connection, and report its events. The stream begins with a key frame and at time 0.
        case open(attempt: Int)
        /// Send the queue, and close the connection.
        case close(attempt: Int)
        /// End the attempt or the connection at once.
        case abandon(attempt: Int)
        /// Tell the user of the new state; of `error` and `autoReconnecting` with the reason, and again if another try
        /// fails for another reason.
        case tell(OutputState, because: OutputError? = nil)
    }

    private enum Phase {
        case idle
        /// Waits for the track.
        case withoutTrack
        /// Waits for something to send, or, with a time, for an answer.
        case opening(until: MonotonicTime)
        case open(since: MonotonicTime)
        case waiting(until: MonotonicTime)
        /// Sends the rest after a stop, or at the end of the track.
        case closing(until: MonotonicTime, isStopped: Bool)
    }

    /// The most tries that are taken from `Settings.tries`.
    public static let maxTries = 3
    /// How long an output is retried if its stream name may be in use: servers keep the name of a publisher that has
    /// vanished for 30 s, usually until ICE times out.
    public static let nameTime = Interval.seconds(45)
    /// A connection that lasted this long has worked: the count of tries is reset.
    private static let lasting = Interval.seconds(10)

    /// What the output is doing now.
    public private(set) var state = OutputState.unknown
    /// How often it has tried again since it last worked.
    public private(set) var triesMade = 0
    /// May be set at any time; applies from the next event on.
    public var settings: Settings
    private var phase = Phase.idle
    private var hasTrack: Bool
    private var attempt = 0
    /// Since when the server has refused it because its name may be in use; nil if it hasn't.
    private var nameRefusedSince: MonotonicTime?
    /// Whether the other side has ever accepted a connection, and therefore the token.
    private var hasOpened = false
    /// The reason for `state` that the user was told.
    private var reason: OutputError?

    /// Creates the life of an output that has not been started, and whose track exists now if `hasTrack` is true.
    public init(_ settings: Settings = Settings(), hasTrack: Bool = true) {
        self.settings = settings
        self.hasTrack = hasTrack
    }

    /// When to call `poll`, if nothing else happens.
    public var deadline: MonotonicTime {
        switch phase {
        case .opening(let until), .waiting(let until), .closing(let until, _): until
        case .idle, .withoutTrack, .open: .distantFuture
        }
    }

    /// Handles an event at `now`; returns the actions to carry out.
    ///
    /// - Parameter random: A random number, 0 up to but not including 1, for the time until the next try: many outputs
    ///   that lose one server must not come back to it at once.
    public mutating func handle(_ event: Event, at now: MonotonicTime, random: Double) -> [Action] {
        switch event {
        case .start:
            guard state.isOver else { return [] }
            return begin()
        case .restart:
            guard state != .unknown else { return [] }
            return abandoned() + begin()
        case .networkChanged(let goesOn):
            guard !state.isOver, state != .disconnecting else { return [] }
            return abandoned() + (goesOn ? begin() : end(as: .disconnected))
        case .trackCame:
            hasTrack = true
            guard case .withoutTrack = phase else { return [] }
            return begin()
        case .trackLeft:
            hasTrack = false
            return trackLeft(now)
        case .stop: return stop(now)
        case .dialled(let attempt):
            if attempt == self.attempt, case .opening = phase { phase = .opening(until: now + settings.connectTimeout) }
            return []
        case .opened(let attempt):
            guard attempt == self.attempt, case .opening = phase else { return [] }
            phase = .open(since: now)
            (nameRefusedSince, hasOpened) = (nil, true)
            return change(to: .connected)
        case .failed(let attempt, let failure):
            guard attempt == self.attempt else { return [] }
            return failed(failure, now, random)
        case .closed(let attempt):
            guard attempt == self.attempt, case .closing = phase else { return [] }
            return closed()
        }
    }

    /// Does what is due at `now`.
    public mutating func poll(at now: MonotonicTime, random: Double) -> [Action] {
        guard now >= deadline else { return [] }
        switch phase {
        case .opening:
            let failure = OutputError("no answer within \(settings.connectTimeout.milliseconds / 1000) s")
            return abandoned() + failed(failure, now, random)
        case .waiting: return open()
        case .closing: return abandoned() + closed()
        case .idle, .withoutTrack, .open: return []
        }
    }

    /// The first attempt after the user's wish, or after the track has begun; without a track, it is waited for.
    private mutating func begin() -> [Action] {
        (triesMade, nameRefusedSince) = (0, nil)
        guard hasTrack else {
            phase = .withoutTrack
            return change(to: .waiting)
        }
        return change(to: .connecting) + open()
    }

    private mutating func open() -> [Action] {
        attempt += 1
        phase = .opening(until: .distantFuture)
        return [.open(attempt: attempt)]
    }

    private mutating func stop(_ now: MonotonicTime) -> [Action] {
        switch phase {
        case .open: return close(now, isStopped: true)
        case .withoutTrack, .opening, .waiting:
            let actions = change(to: .disconnecting) + abandoned()
            return actions + end(as: .disconnected)
        case .closing(let until, _):
            phase = .closing(until: until, isStopped: true)
            return []
        case .idle: return []
        }
    }

    private mutating func trackLeft(_ now: MonotonicTime) -> [Action] {
        switch phase {
        case .open: return close(now, isStopped: false)
        case .opening, .waiting: return abandoned() + begin()
        case .idle, .withoutTrack, .closing: return []
        }
    }

    private mutating func close(_ now: MonotonicTime, isStopped: Bool) -> [Action] {
        phase = .closing(until: now + settings.closeTimeout, isStopped: isStopped)
        return change(to: .disconnecting) + [.close(attempt: attempt)]
    }

    /// The rest has been sent, or isn't needed. A track that has ended may have returned meanwhile.
    private mutating func closed() -> [Action] {
        if case .closing(_, isStopped: false) = phase { return begin() }
        return end(as: .disconnected)
    }

    private mutating func failed(_ failure: OutputError, _ now: MonotonicTime, _ random: Double) -> [Action] {
        switch phase {
        // It is ending: the rest isn't needed.
        case .closing: return closed()
        case .idle, .withoutTrack, .waiting: return []
        case .open(let since) where now - since >= Self.lasting: triesMade = 0
        case .open, .opening: break
        }
        if failure.nameMayBeInUse {
            let since = nameRefusedSince ?? now
            nameRefusedSince = since
            if now - since < Self.nameTime {
                phase = .waiting(until: now + nameWait(failure, random: random))
                return change(to: .autoReconnecting, because: failure)
            }
        }
        guard !failure.isFinal, triesMade < min(settings.tries, Self.maxTries) else {
            return end(as: .error, because: failure)
        }
        triesMade += 1
        phase = .waiting(until: now + Self.wait(before: triesMade, random: random))
        return change(to: .autoReconnecting, because: failure)
    }

    /// The wait where the name may be in use: 1 to 3 s, so that the output is back soon after the name is free. Where
    /// it may as well be the token that is refused, 8 to 12 s: some servers block clients that try many wrong tokens.
    private func nameWait(_ failure: OutputError, random: Double) -> Interval {
        let (least, range) = failure.isFinal && !hasOpened ? (8_000, 4_000.0) : (1_000, 2_000.0)
        return .milliseconds(Int64(least) + Int64(range * min(max(random, 0), 1)))
    }

    /// The wait before the first, second and third try: up to 1 s, 2 to 4 s, and 4 to 6 s.
    private static func wait(before number: Int, random: Double) -> Interval {
        let range = number == 1 ? 1000.0 : 2000
        return .seconds(2) * Int64(number - 1) + .milliseconds(Int64(range * min(max(random, 0), 1)))
    }

    private mutating func abandoned() -> [Action] {
        switch phase {
        case .opening, .open, .closing: return [.abandon(attempt: attempt)]
        case .idle, .withoutTrack, .waiting: return []
        }
    }

    private mutating func end(as new: OutputState, because failure: OutputError? = nil) -> [Action] {
        phase = .idle
        return change(to: new, because: failure)
    }

    private mutating func change(to new: OutputState, because failure: OutputError? = nil) -> [Action] {
        guard new != state || failure != reason else { return [] }
        (state, reason) = (new, failure)
        return [.tell(new, because: failure)]
    }
}
