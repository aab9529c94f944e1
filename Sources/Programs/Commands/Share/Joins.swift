import CommandLine
import Joining
import ScreenRelayKit
import Threading

/// The rooms of other servers that a running `share` or `host` has joined, and the news of them.
final class Joins: Sendable {
    private let joins: [Join]

    /// Begins to join the rooms. One that can't be begun is a line in `log`, and sharing continues.
    init(_ option: JoinOption, of host: ScreenRelayHost, _ news: SharingNews, log: EventLog) {
        if let warning = option.warning { log.warning(warning) }
        var joins: [Join] = []
        for target in option.targets {
            do throws(JoinError) {
                joins.append(try Join(host.firstTrack, into: target, log: log) { news.tell($0, of: target) })
            } catch {
                log.warning("--join \(target): \(error)")
            }
        }
        self.joins = joins
    }

    /// What the first of them do, as many as a status reports.
    var documents: [StatusDocument.Join] {
        joins.prefix(StatusDocument.serverLimit).map { $0.state.document(of: $0.target) }
    }

    /// Leaves all rooms, which takes a second at most for each.
    func stop() {
        for join in joins { join.stop() }
        for join in joins { join.waitForEnd() }
    }
}

extension SharingNews {
    /// Reports the state of a join. Any thread; doesn't block.
    func tell(_ state: JoinState, of target: JoinTarget) {
        guard state != .joining, state != .ended else { return }
        tellJoin(state.document(of: target))
    }
}

extension JoinState {
    /// The state for programs.
    fileprivate func document(of target: JoinTarget) -> StatusDocument.Join {
        var document = StatusDocument.Join()
        document.to = target.description
        switch self {
        case .joining: document.state = "joining"
        case .joined(let count, let excluded):
            document.state = "joined"
            document.members = count
            document.excluded = excluded?.count
            document.reason = excluded?.reason
        case .waiting(let reason):
            document.state = "waiting"
            document.reason = reason
        case .waitingToBeLetIn:
            document.state = "waiting"
            document.reason = "waiting to be let in"
            document.knocking = true
        case .full: document.state = "full"
        case .ended: document.state = "ended"
        }
        return document
    }
}
