import OutputLife
import Pushing
import Synchronization

/// What a push has told so far.
final class Told: Sendable {
    private struct Events {
        var states: [OutputState] = []
        var failures: [String] = []
        var statuses: [PushStatus] = []
        var weakCount = 0
    }

    private let events = Mutex(Events())

    /// The states, each once although another reason to try again may have followed the first.
    var states: [OutputState] { events.withLock { $0.states } }
    /// Why it tries again, and why it has failed.
    var failures: [String] { events.withLock { $0.failures } }
    var statuses: [PushStatus] { events.withLock { $0.statuses } }
    /// How often it has told that its network is weak.
    var weakCount: Int { events.withLock { $0.weakCount } }

    func take(_ event: PushEvent) {
        events.withLock { events in
            switch event {
            case .changed(let state, let failure):
                if let failure { events.failures.append("\(failure)") }
                if events.states.last != state { events.states.append(state) }
            case .status(let status): events.statuses.append(status)
            case .weakNetwork: events.weakCount += 1
            }
        }
    }
}
