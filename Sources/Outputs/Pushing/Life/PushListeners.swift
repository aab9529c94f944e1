import OutputLife
import Synchronization

/// Those who listen to a push, and its last state.
final class PushListeners: Sendable {
    private struct State {
        var output = OutputState.unknown
        var failure: OutputError?
        var status: PushStatus?
        var next = 0
        var listeners: [Int: AsyncStream<PushEvent>.Continuation] = [:]
        var isOver = false
    }

    private let shared = Mutex(State())
    private let onEvent: @Sendable (PushEvent) -> Void

    init(_ onEvent: @escaping @Sendable (PushEvent) -> Void) {
        self.onEvent = onEvent
    }

    var state: OutputState { shared.withLock { $0.output } }
    var failure: OutputError? { shared.withLock { $0.failure } }
    var status: PushStatus? { shared.withLock { $0.status } }

    func makeStream() -> AsyncStream<PushEvent> {
        // A listener that doesn't read for long misses the oldest events.
        let (stream, continuation) = AsyncStream.makeStream(of: PushEvent.self, bufferingPolicy: .bufferingNewest(256))
        let key: Int? = shared.withLock { state in
            if state.isOver { return nil }
            state.next += 1
            state.listeners[state.next] = continuation
            return state.next
        }
        guard let key else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.shared.withLock { $0.listeners[key] = nil } }
        return stream
    }

    func tell(_ event: PushEvent) {
        let listeners = shared.withLock { state in
            switch event {
            case .changed(let new, let failure): (state.output, state.failure, state.status) = (new, failure, nil)
            case .status(let status): state.status = status
            case .weakNetwork: break
            }
            return Array(state.listeners.values)
        }
        onEvent(event)
        for listener in listeners { listener.yield(event) }
    }

    func finish() {
        let listeners = shared.withLock { state in
            state.isOver = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
