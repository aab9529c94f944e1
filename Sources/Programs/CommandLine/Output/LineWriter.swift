import Clocks
import Glibc
import LockOrder
import MediaTypes
import Threading

/// Writes lines to a descriptor on its own thread, so that no caller blocks on a stopped terminal or a pipe that isn't
/// read.
///
/// Lines that arrive while the queue is full are counted, and one line says how many are missing. Any thread may call
/// any method.
public final class LineWriter: Sendable {
    /// Standard error, for the log and for error messages.
    public static let standardError = LineWriter(descriptor: 2, isJournal: StandardStreams.isJournal(2)) {
        "(\($0) lines are missing here)"
    }

    private struct State {
        var lines: [String] = []
        var byteCount = 0
        var missing = 0
        var isWriting = false
        var isEnding = false
        /// Whether any line was written.
        var hasBegun = false
        /// Whether the thread was started. If it can't be, callers write their lines themselves.
        var thread: ThreadState = .none
    }

    private enum ThreadState {
        case none, held, running, impossible
    }

    /// The most lines and bytes in the queue. Lines beyond that are only counted.
    private static let limit = 4096
    private static let byteLimit = 1 << 20
    /// How long `flush` waits for the lines to be written.
    private static let timeout = Interval.seconds(1)

    private let state = RankedMutex(State(), .innermost)
    private let descriptor: Int32
    private let isJournal: Bool
    private let wake = EventFD()
    private let written = EventFD()
    private let missingLine: @Sendable (Int) -> String
    private let onFailure: @Sendable (_ errno: Int32, _ hasBegun: Bool) -> Void

    /// - Parameters:
    ///   - descriptor: where lines are written. The caller keeps ownership, and closes it only after ``flush()``.
    ///   - isJournal: whether that is the systemd journal, which gets the lines' levels.
    ///   - onFailure: called for each piece that can't be written, with the reason and whether anything was written
    ///     before.
    ///   - missingLine: returns the line that replaces this many lines that arrived while the queue was full.
    public init(
        descriptor: Int32, isJournal: Bool = false,
        onFailure: @escaping @Sendable (_ errno: Int32, _ hasBegun: Bool) -> Void = { _, _ in },
        missingLine: @escaping @Sendable (Int) -> String
    ) {
        self.descriptor = descriptor
        self.isJournal = isJournal
        self.onFailure = onFailure
        self.missingLine = missingLine
    }

    deinit {
        state.withLock { $0.isEnding = true }
        wake?.signal()
    }

    /// Queues a line, given without its line feed. Doesn't block.
    public func write(_ line: String) { write([line]) }

    /// Queues a line of this level. Doesn't block.
    func write(_ line: String, as level: EventLog.Level) {
        write((isJournal ? level.journalPrefix : "") + line)
    }

    /// Queues lines that are written in one piece: a reader who sees the first can read them all. Doesn't block.
    public func write(_ lines: [String]) {
        let thread = state.withLock { state -> ThreadState in
            for line in lines {
                let count = line.utf8.count
                if state.lines.count < Self.limit, state.byteCount + count <= Self.byteLimit {
                    state.lines.append(line)
                    state.byteCount += count
                } else {
                    state.missing += 1
                }
            }
            if state.thread == .none { state.thread = startThread() ? .running : .impossible }
            return state.thread
        }
        switch thread {
        case .running: wake?.signal()
        case .impossible: _ = writeWaiting()
        case .none, .held: break
        }
    }

    /// Keeps lines in the queue until ``resume()`` or ``flush()``, if the thread isn't running yet: a program that
    /// gives up rights has no second thread until then, which would keep them.
    public func hold() {
        state.withLock { if $0.thread == .none { $0.thread = .held } }
    }

    /// Writes the lines that ``hold()`` has kept, and all later ones.
    public func resume() {
        let hasLines = state.withLock { state -> Bool in
            guard state.thread == .held else { return false }
            state.thread = .none
            return !state.lines.isEmpty || state.missing > 0
        }
        if hasLines { write([]) }
    }

    /// Waits at most 1 s until everything is written.
    public func flush() {
        resume()
        let deadline = MonotonicTime.now() + Self.timeout
        while MonotonicTime.now() < deadline {
            let isDone = state.withLock {
                $0.thread != .running || ($0.lines.isEmpty && $0.missing == 0 && !$0.isWriting)
            }
            if isDone { return }
            written?.wait(until: deadline)
        }
    }

    /// The thread blocks all signals, because signals that end a program are for the thread that waits for them. It is
    /// never joined: if its output isn't read, it ends with the process.
    private func startThread() -> Bool {
        guard let wake, written != nil else { return false }
        let thread = NamedThread("output", blocksSignals: true) { [weak self] in
            while true {
                wake.wait()
                guard self?.writeWaiting() == true else { return }
            }
        }
        return thread != nil
    }

    /// Returns false when the writer has ended.
    private func writeWaiting() -> Bool {
        while true {
            let (text, isEnding) = state.withLock { state -> (String, Bool) in
                var text = state.lines.map { $0 + "\n" }.joined()
                if state.missing > 0 { text += missingLine(state.missing) + "\n" }
                state.isWriting = !text.isEmpty
                state.lines = []
                state.byteCount = 0
                state.missing = 0
                return (text, state.isEnding)
            }
            if text.isEmpty {
                written?.signal()
                return !isEnding
            }
            if writeAll(Array(text.utf8), to: descriptor) {
                state.withLock { $0.hasBegun = true }
            } else {
                onFailure(errno, state.withLock { $0.hasBegun })
            }
        }
    }
}
