import Clocks
import Glibc
public import LinkTransport
import MediaTypes
public import Signalling
import Threading

/// Finds this user's running hosts by their control sockets, and sends them commands (Protocol/control.md).
public struct ControlClient: Sendable {
    private let folder: SocketFolder

    /// A client of the hosts whose sockets are in `folder`.
    public init(in folder: SocketFolder = SocketFolder()) {
        self.folder = folder
    }

    /// The process ids of the running hosts, in ascending order. Removes sockets that dead hosts left behind.
    public var processes: [Int32] {
        var found: [Int32] = []
        for process in listedProcesses {
            do throws(SocketError) {
                let connection = try SocketConnection.connect(to: .unix(path: path(of: process)))
                connection.close()
                found.append(process)
            } catch {
                // A socket also refuses connections between bind and listen, so remove it only if the process is gone.
                if case .notListening = error, kill(process, 0) != 0, errno == ESRCH { unlink(path(of: process)) }
            }
        }
        return found.sorted()
    }

    /// Sends a command to the host with this process id and returns its answer, a text for people or a document as one
    /// line of JSON. Takes at most 2 s. Throws ``ControlError`` if it was not carried out.
    public func ask(_ command: ControlCommand, of process: Int32) throws(ControlError) -> String {
        let line: String
        do throws(SocketError) {
            line = try exchange(command, with: process)
        } catch {
            switch error {
            case .notListening: throw .notRunning(process: process)
            case .closed: throw .noAnswer(process: process)
            default: throw .link(error)
            }
        }
        switch ControlAnswer(json: line) {
        case .done(let text, made: _), .document(let text): return text
        case .refused(let reason, _): throw .refused(process: process, reason: reason)
        case nil: throw .unreadable(process: process)
        }
    }

    private var listedProcesses: [Int32] { fileNames(in: folder.path).compactMap(ControlLine.process(ofSocketNamed:)) }

    private func path(of process: Int32) -> String { folder.path + "/" + ControlLine.socketName(of: process) }

    private func exchange(_ command: ControlCommand, with process: Int32) throws(SocketError) -> String {
        let connection = try SocketConnection.connect(to: .unix(path: path(of: process)))
        defer { connection.close() }
        let deadline = MonotonicTime.now() + .milliseconds(ControlLine.timeoutMilliseconds)
        // Short enough for the socket's buffer to take it at once.
        try connection.enqueue(header: Array(command.json.utf8) + [0x0A])
        var buffer = [UInt8](repeating: 0, count: command.answerLimit)
        var bytes: [UInt8] = []
        while bytes.count < command.answerLimit, MonotonicTime.now() < deadline {
            switch try connection.receive(into: &buffer) {
            case .closed: throw .closed
            case .bytes(let count):
                bytes += buffer[..<count]
                if let line = ControlLine.first(of: bytes) { return line }
            case .wouldBlock:
                waitForEvents(on: connection.descriptor, until: deadline)
            }
        }
        throw .closed
    }
}

/// Why a host did not carry out a command.
public enum ControlError: Error, Sendable, CustomStringConvertible {
    /// No host runs with this process id.
    case notRunning(process: Int32)
    /// The host closed the connection, or took too long.
    case noAnswer(process: Int32)
    /// The host's answer is of another form.
    case unreadable(process: Int32)
    /// The host could not carry out the command.
    case refused(process: Int32, reason: String)
    /// The host's socket can't be used.
    case link(SocketError)

    public var description: String {
        switch self {
        case .notRunning(let process): "process \(process) is not a share or host of this user"
        case .noAnswer(let process): "process \(process) did not answer"
        case .unreadable(let process):
            "process \(process): the answer can't be read; the host may be of another version"
        case .refused(let process, let reason): "process \(process): \(reason)"
        case .link(let error): error.description
        }
    }
}
