import CLinux
import Glibc

/// The two pipes of `--remote-debugging-pipe`, which carry JSON objects with a NUL character after each.
///
///     we ─── pipe ──▶ browser's descriptor 3      {"id":1,"method":"Page.enable","params":{}}\0
///     we ◀── pipe ─── browser's descriptor 4      {"id":1,"result":{}}\0{"method":"Page.loadEventFired",...}\0
///
/// Use it from one thread at a time. Both ends are closed with the last reference.
final class DevToolsPipe: MessageChannel {
    /// The ends that the browser gets as its descriptors 3 and 4; ours to close once the browser has them.
    private(set) var browsersEnds: (reading: Int32, writing: Int32)
    private let stream: ByteStream
    /// The number of bytes at the start of the received ones that are known to have no NUL character.
    private var searched = 0

    init() throws(BrowserError) {
        var commands: [Int32] = [-1, -1]
        var answers: [Int32] = [-1, -1]
        guard pipe2(&commands, O_CLOEXEC) == 0 else { throw .notStarted("no pipe: \(Self.text(of: errno))") }
        guard pipe2(&answers, O_CLOEXEC) == 0 else {
            let reason = Self.text(of: errno)
            for end in commands { close(end) }
            throw .notStarted("no pipe: \(reason)")
        }
        browsersEnds = (commands[0], answers[1])
        stream = ByteStream(reading: answers[0], writing: commands[1])
    }

    deinit { closeBrowsersEnds() }

    /// Closes our copies of the browser's ends, so that the end of the browser shows as the end of the stream.
    func closeBrowsersEnds() {
        if browsersEnds.reading >= 0 { close(browsersEnds.reading) }
        if browsersEnds.writing >= 0 { close(browsersEnds.writing) }
        browsersEnds = (-1, -1)
    }

    func send(_ message: [UInt8], until deadline: ContinuousClock.Instant) throws(BrowserError) {
        try stream.send(message + [0], until: deadline)
    }

    func receive(until deadline: ContinuousClock.Instant) throws(BrowserError) -> [UInt8]? {
        while true {
            if let end = stream.received[searched...].firstIndex(of: 0) {
                let message = Array(stream.received[..<end])
                stream.received.removeSubrange(...end)
                searched = 0
                return message
            }
            searched = stream.received.count
            guard try stream.receive(until: deadline) else { return nil }
        }
    }

    private static func text(of code: Int32) -> String {
        String(cString: strerror(code))
    }
}
