import Glibc
import MediaTypes

/// The lines of standard input, each of which begins a phase of the measurement or ends one. Belongs to one thread.
final class PhaseMarks {
    private var lineCount = 0
    private var isAtEnd = false

    /// Lets the viewers watch until a line comes. Returns false if none comes any more.
    func wait(in loop: ViewerLoop) -> Bool {
        loop.run(until: .distantFuture) { isDue() }
        guard lineCount > 0 else { return false }
        lineCount -= 1
        return true
    }

    /// Reads what has come, without waiting. Returns whether there is a line, or the end.
    private func isDue() -> Bool {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        var buffer = [UInt8](repeating: 0, count: 256)
        while !isAtEnd, poll(&input, 1, 0) > 0 {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            guard count > 0 else {
                isAtEnd = count == 0 || errno != EINTR
                break
            }
            lineCount += buffer.prefix(count).count { $0 == UInt8(ascii: "\n") }
        }
        return lineCount > 0 || isAtEnd
    }
}
