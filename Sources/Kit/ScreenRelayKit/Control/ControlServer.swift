import Clocks
import Glibc
public import LinkTransport
import MediaTypes
public import Signalling
public import Threading

/// Lets this user's other programs control a running host. Listens on `control-PID.sock` in the user's socket folder,
/// on its own thread (Protocol/control.md).
///
/// Only this user and root can connect. A connection is closed after 2 s at the latest. When a ninth connection comes,
/// the oldest is closed.
public final class ControlServer: Sendable {
    private let thread: NamedThread
    private let wake: EventFD
    private let isStopped: Flag

    /// Listens in `folder`, which is created if it doesn't exist.
    ///
    /// - Parameters:
    ///   - folder: the folder of the socket.
    ///   - process: the process id in the socket's name, or nil for this process's.
    ///   - log: gets a line for each fault and, at level `info`, for each command.
    ///   - answer: called on the server's thread for each command. Of a text for people, the first 512 bytes are
    ///     sent, and of a document at most 4 MiB. While it blocks, no other command is answered.
    /// - Throws: `SocketError` if `folder` isn't safe or can't be created, if a live process listens on the
    ///   socket, or if no thread or descriptor is left.
    public init(
        in folder: SocketFolder = SocketFolder(), process: Int32? = nil, log: EventLog = .silent,
        answer: @escaping @Sendable (ControlCommand) -> ControlAnswer
    ) throws(SocketError) {
        guard let wake = EventFD() else { throw .system(call: "eventfd", subject: "the control socket", code: errno) }
        try folder.prepare()
        let listener = Sent(
            try SocketListener(path: folder.path + "/" + ControlLine.socketName(of: process ?? getpid())))
        let isStopped = Flag()
        let started = NamedThread("control") {
            let loop = ControlLoop(listener: listener.value, log: log, answer: answer)
            while !isStopped.isSet { loop.turn(wake: wake) }
            loop.end()
        }
        guard let started else { throw .system(call: "pthread_create", subject: "the control socket", code: EAGAIN) }
        self.wake = wake
        self.isStopped = isStopped
        thread = started
    }

    /// Ends the thread and removes the socket. Answers that were already given are written as far as the sockets take
    /// them at once. Idempotent. Must not be called on the server's thread.
    public func stop() {
        isStopped.set()
        wake.signal()
        thread.join()
    }
}

/// The state of the server's thread: one listener and a few connections, each for one command.
private final class ControlLoop {
    private static let connectionLimit = 8
    private static let shortagePause = Interval.seconds(1)

    private let listener: SocketListener
    private let log: EventLog
    private let answer: @Sendable (ControlCommand) -> ControlAnswer
    private var asking: [Asking] = []
    private var buffer = [UInt8](repeating: 0, count: ControlLine.requestLimit)
    /// The listener is not polled until this time. Nil while connections can be accepted.
    private var acceptsAgain: MonotonicTime?

    /// One connected client.
    private final class Asking {
        let connection: SocketConnection
        let deadline: MonotonicTime
        var line: [UInt8] = []
        var isAnswered = false
        var isOver = false

        init(_ connection: SocketConnection, deadline: MonotonicTime) {
            self.connection = connection
            self.deadline = deadline
        }
    }

    init(listener: SocketListener, log: EventLog, answer: @escaping @Sendable (ControlCommand) -> ControlAnswer) {
        self.listener = listener
        self.log = log
        self.answer = answer
    }

    /// Waits for events and handles them.
    func turn(wake: EventFD) {
        var entries = [
            pollfd(wake.descriptor),
            pollfd(acceptsAgain == nil ? listener.descriptor : -1),
        ]
        for one in asking {
            let events = one.connection.wantsWrite ? POLLOUT : POLLIN
            entries.append(pollfd(one.connection.descriptor, events))
        }
        let deadline = (asking.map(\.deadline) + [acceptsAgain ?? .distantFuture]).min() ?? .distantFuture
        waitForEvents(&entries, until: deadline)
        wake.consume()
        let now = MonotonicTime.now()
        if let until = acceptsAgain, until <= now { acceptsAgain = nil }
        for (one, entry) in zip(asking, entries.dropFirst(2)) {
            if entry.isReady { serve(one) }
            if one.deadline <= now { one.isOver = true }
        }
        asking.removeAll { one in
            if one.isOver { one.connection.close() }
            return one.isOver
        }
        if entries[1].isReady { accept(now) }
    }

    func end() {
        for one in asking { one.connection.close() }
        listener.close()
    }

    private func accept(_ now: MonotonicTime) {
        do throws(SocketError) {
            // Accept one connection in each turn; the next one is still in the queue then.
            guard let connection = try listener.accept() else { return }
            if asking.count >= Self.connectionLimit { asking.removeFirst().connection.close() }
            let deadline = now + .milliseconds(ControlLine.timeoutMilliseconds)
            asking.append(Asking(connection, deadline: deadline))
        } catch {
            log.warning("control: \(error)")
            // Without descriptors or memory the connection stays in the queue, and poll would report it again at once.
            if error.isRetryable { acceptsAgain = now + Self.shortagePause }
        }
    }

    private func serve(_ one: Asking) {
        do throws(SocketError) {
            if one.isAnswered {
                if try one.connection.flush() { one.isOver = true }
                return
            }
            switch try one.connection.receive(into: &buffer) {
            case .wouldBlock: return
            case .closed: one.isOver = true
            case .bytes(let count):
                one.line += buffer[..<count]
                guard let line = ControlLine.first(of: one.line) else {
                    guard one.line.count >= ControlLine.requestLimit else { return }
                    return try reply(.refused("the line is too long", .invalid), to: one)
                }
                try answer(line, of: one)
            }
        } catch {
            one.isOver = true
        }
    }

    private func answer(_ line: String, of one: Asking) throws(SocketError) {
        guard line.utf8.count < ControlLine.requestLimit else {
            return try reply(.refused("the line is too long", .invalid), to: one)
        }
        let command: ControlCommand
        do throws(CommandError) {
            command = try ControlCommand(json: line)
        } catch {
            return try reply(.refused(error.description, .invalid), to: one)
        }
        log.info("control: \(command.jsonWithoutSecrets)")
        try reply(answer(command), to: one)
    }

    private func reply(_ answer: ControlAnswer, to one: Asking) throws(SocketError) {
        var line = answer.json
        if line.utf8.count >= ControlLine.documentLimit { line = ControlAnswer.refused("the answer is too long").json }
        try one.connection.enqueue(header: Array(line.utf8) + [0x0A])
        one.isAnswered = true
        one.isOver = !one.connection.wantsWrite
    }
}
