import OutputLife
import Pushing
import Synchronization

/// What a push has told so far.
final class Told: Sendable {
    let states = Mutex<[OutputState]>([])
    let failures = Mutex<[String]>([])
    let statuses = Mutex<[PushStatus]>([])

    func take(_ event: PushEvent) {
        switch event {
        case .changed(let state, let failure):
            if let failure { failures.withLock { $0.append("\(failure)") } }
            states.withLock { $0.append(state) }
        case .status(let status): statuses.withLock { $0.append(status) }
        case .weakNetwork: break
        }
    }
}
