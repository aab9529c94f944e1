import Synchronization

/// What the threads of a host report for its desktop: viewers who join and leave. Methods may be called on any thread
/// and don't block; ``DesktopSigns`` reads the result on its own thread.
public final class DesktopNews: Sendable {
    /// What has happened since the last reading.
    struct Reading {
        /// How many viewers there are.
        var viewers = 0
        /// The names of those who have joined, in their order; nil for a viewer without a name.
        var joined: [String?] = []
        /// How many more have joined.
        var furtherJoined = 0
    }

    private struct State {
        /// The identifiers of the viewers.
        var present: Set<String> = []
        var joined: [(id: String, name: String?)] = []
        var furtherJoined = 0
        /// The identifier of the last one who has left, if no one has joined since.
        var lastLeft: String?
    }

    private static let mostNames = 100
    private let state = Mutex(State())
    private let onChange: @Sendable () -> Void

    /// News without viewers. `onChange` is called after each change, on the thread that reports it, and must not block.
    public init(onChange: @escaping @Sendable () -> Void) {
        self.onChange = onChange
    }

    /// Reports that a viewer has joined. One who has just left under the same identifier has only changed the name.
    public func joined(_ id: String, name: String?) {
        state.withLock { state in
            guard state.present.insert(id).inserted else { return }
            let isRenamed = state.lastLeft == id
            state.lastLeft = nil
            if isRenamed {
                if let index = state.joined.lastIndex(where: { $0.id == id }) { state.joined[index].name = name }
            } else if state.joined.count < Self.mostNames {
                state.joined.append((id, name))
            } else {
                state.furtherJoined += 1
            }
        }
        onChange()
    }

    /// Reports that a participant has left. Unknown identifiers are ignored.
    public func left(_ id: String) {
        state.withLock { if $0.present.remove(id) != nil { $0.lastLeft = id } }
        onChange()
    }

    /// Reports that the state of the share has changed.
    public func stateChanged() { onChange() }

    /// The news since the last call.
    func read() -> Reading {
        state.withLock { state in
            defer { (state.joined, state.furtherJoined) = ([], 0) }
            return Reading(
                viewers: state.present.count, joined: state.joined.map(\.name), furtherJoined: state.furtherJoined)
        }
    }
}
