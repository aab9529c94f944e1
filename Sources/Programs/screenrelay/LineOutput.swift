import CommandLine
import Glibc
import MediaTypes
import Synchronization
import Threading

/// Writes lines to standard output on a thread of its own: who has news must not wait for a terminal that is stopped.
final class LineOutput: Sendable {
    private struct State {
        var lines: [String] = []
        var missing = 0
        var isWriting = false
        var isEnding = false
        /// Whether any line was written.
        var hasBegun = false
        /// Whether it was said that lines can't be written.
        var hasFailed = false
    }

    /// Lines that wait at most; more are counted.
    private static let limit = 4096
    /// How long the end waits for lines to be read.
    private static let patience = Interval.seconds(1)

    private let state = Mutex(State())
    private let wake: WakeUp
    private let written: WakeUp
    private let missingLine: @Sendable (Int) -> String

    /// - Parameter missingLine: the line that is written in place of so many that came while there was no room; nil where no thread or
    ///   descriptor is left.
    init?(missingLine: @escaping @Sendable (Int) -> String) {
        guard let wake = WakeUp(), let written = WakeUp() else { return nil }
        self.wake = wake
        self.written = written
        self.missingLine = missingLine
        // The thread is left to itself: where nobody reads, it ends with the process.
        let thread = NamedThread("output") { [weak self] in
            while true {
                wake.wait()
                guard self?.writeAll() == true else { return }
            }
        }
        if thread == nil { return nil }
    }

    deinit {
        state.withLock { $0.isEnding = true }
        wake.signal()
    }

    /// Has a line written, without its end. Any thread; doesn't block.
    func write(_ line: String) { write([line]) }

    /// Has lines written in one piece: who sees the first can read them all. Any thread; doesn't block.
    func write(_ lines: [String]) {
        state.withLock { state in
            for line in lines {
                if state.lines.count < Self.limit { state.lines.append(line) } else { state.missing += 1 }
            }
        }
        wake.signal()
    }

    /// Waits until all is written, at most a second.
    func flush() {
        let deadline = monotonicNow() + Self.patience
        while monotonicNow() < deadline {
            if state.withLock({ $0.lines.isEmpty && $0.missing == 0 && !$0.isWriting }) { return }
            written.wait(until: deadline)
        }
    }

    /// False at the end.
    private func writeAll() -> Bool {
        while true {
            let (text, isEnding) = state.withLock { state -> (String, Bool) in
                var text = state.lines.map { $0 + "\n" }.joined()
                if state.missing > 0 { text += missingLine(state.missing) + "\n" }
                state.isWriting = !text.isEmpty
                state.lines = []
                state.missing = 0
                return (text, state.isEnding)
            }
            if text.isEmpty {
                written.signal()
                return !isEnding
            }
            if StandardStreams.print(text) {
                state.withLock { $0.hasBegun = true }
            } else {
                tell(errno)
            }
        }
    }

    /// Says once why lines are lost, of which the first is the link: sharing goes on.
    private func tell(_ failure: Int32) {
        let isNews = state.withLock { state in
            // A reader that has the link and wants no more is no error.
            if state.hasFailed || (failure == EPIPE && state.hasBegun) { return false }
            state.hasFailed = true
            return true
        }
        guard isNews else { return }
        StandardStreams.printError(
            "standard output: \(String(cString: strerror(failure))); sharing goes on",
            program: Program.name)
    }
}
