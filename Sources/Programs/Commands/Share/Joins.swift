import ByteCoding
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

    /// What each of them does, for people: "skyrtc:wss://rooms.example: joined, 2 members".
    var lines: [String] { joins.map { "\($0.target): \($0.state.text)" } }

    /// What each of them does, for programs.
    var objects: [JSONObject] {
        joins.map { join in JSONObject { join.state.add(to: &$0, of: join.target) } }
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
        tellJoin("the join to \(target): \(state.text)") { state.add(to: &$0, of: target) }
    }
}

extension JoinState {
    private static let toBeLetIn = "waiting to be let in"

    /// The state in one word, for programs.
    private var word: String {
        switch self {
        case .joining: "joining"
        case .joined: "joined"
        case .waiting, .waitingToBeLetIn: "waiting"
        case .full: "full"
        case .ended: "ended"
        }
    }

    fileprivate var text: String {
        switch self {
        case .joining: "joining"
        case .joined(let count, let excluded):
            "joined, \(count) \(count == 1 ? "member" : "members")" + (excluded.map { ", \($0.text)" } ?? "")
        case .waiting(let reason): "waiting to try again: \(reason)"
        case .waitingToBeLetIn: Self.toBeLetIn
        case .full: "the room is full, waiting to try again"
        case .ended: "has ended"
        }
    }

    fileprivate func add(to object: inout JSONObject, of target: JoinTarget) {
        object.add("to", target.description)
        object.add("state", word)
        if case .joined(let count, let excluded) = self {
            object.add("members", count)
            if let excluded {
                object.add("excluded", excluded.count)
                object.add("reason", excluded.reason)
            }
        }
        if case .waiting(let reason) = self { object.add("reason", reason) }
        if case .waitingToBeLetIn = self { object.add("reason", Self.toBeLetIn) }
    }
}

extension ExcludedMembers {
    /// For people, with the first part of the reason: semicolons separate the parts of `status`.
    fileprivate var text: String { "\(count) without a picture: \(reason.prefix { $0 != ";" })" }
}
