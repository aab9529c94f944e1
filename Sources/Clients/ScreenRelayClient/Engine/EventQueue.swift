import Synchronization

/// Events on their way from any thread to one task.
final class EventQueue<Event: Sendable>: Sendable {
    private struct State {
        var events: [Event] = []
        var isFinished = false
    }

    /// How many events may wait.
    private let limit = 1024
    private let state = Mutex(State())
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        wakes = stream
        wake = continuation
    }

    /// Adds an event. An event that waits and that `replacing` holds for is removed.
    func post(_ event: Event, replacing: (Event) -> Bool = { _ in false }) {
        state.withLock { state in
            guard !state.isFinished else { return }
            state.events.removeAll(where: replacing)
            if state.events.count >= limit { state.events.removeFirst() }
            state.events.append(event)
        }
        wake.yield()
    }

    /// Adds the last event.
    func finish(_ event: Event) {
        post(event)
        state.withLock { $0.isFinished = true }
        wake.yield()
    }

    /// Reads the events; for one task.
    struct Reader {
        private let queue: EventQueue
        private var wakes: AsyncStream<Void>.Iterator

        init(_ queue: EventQueue) {
            self.queue = queue
            wakes = queue.wakes.makeAsyncIterator()
        }

        /// The next event; nil after the last one, or once the task is cancelled.
        mutating func next() async -> Event? {
            while !Task.isCancelled {
                let (event, isFinished) = queue.state.withLock { state -> (Event?, Bool) in
                    (state.events.isEmpty ? nil : state.events.removeFirst(), state.isFinished)
                }
                if let event { return event }
                if isFinished { return nil }
                if await wakes.next() == nil { return nil }
            }
            return nil
        }
    }
}
