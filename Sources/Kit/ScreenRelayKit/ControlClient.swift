import Glibc
public import LinkTransport
import MediaTypes
import Threading

/// Finds this user's running hosts by their control sockets, and asks one of them for something (Protocol/control.md).
public struct ControlClient: Sendable {
    private let folder: SocketFolder

    /// A client of the hosts whose sockets are in `folder`.
    public init(in folder: SocketFolder = SocketFolder()) {
        self.folder = folder
    }

    /// The processes of the hosts that run, in order. Sockets that dead ones left behind are removed.
    public var processes: [Int32] {
        var found: [Int32] = []
        for process in listedProcesses {
            do throws(LinkTransportError) {
                let connection = try LinkConnection.connect(to: .unix(path: path(of: process)))
                connection.close()
                found.append(process)
            } catch {
                // A socket is refused also between its making and its listening: the process tells which it is.
                if case .notListening = error, kill(process, 0) != 0, errno == ESRCH { unlink(path(of: process)) }
            }
        }
        return found.sorted()
    }

    /// Asks the host of `process`; gives its answer, one line, or says why there is none. Takes 2 s at most.
    public func ask(_ command: ControlCommand, of process: Int32) throws(ControlError) -> String {
        let line: String
        do throws(LinkTransportError) {
            line = try exchange(command, with: process)
        } catch {
            switch error {
            case .notListening: throw .notRunning(process: process)
            case .closed: throw .noAnswer(process: process)
            default: throw .link(error)
            }
        }
        if line.hasPrefix("ok ") { return String(line.dropFirst(3)) }
        throw .refused(process: process, reason: line.hasPrefix("error ") ? String(line.dropFirst(6)) : line)
    }

    private var listedProcesses: [Int32] {
        guard let directory = opendir(folder.path) else { return [] }
        defer { closedir(directory) }
        var found: [Int32] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let process = ControlLine.process(ofSocketNamed: name) { found.append(process) }
        }
        return found
    }

    private func path(of process: Int32) -> String { folder.path + "/" + ControlLine.socketName(of: process) }

    private func exchange(_ command: ControlCommand, with process: Int32) throws(LinkTransportError) -> String {
        let connection = try LinkConnection.connect(to: .unix(path: path(of: process)))
        defer { connection.close() }
        let deadline = monotonicNow() + .milliseconds(ControlLine.patienceMilliseconds)
        // Less than a socket takes at once.
        try connection.enqueue(header: ControlLine.bytes(command.line, limit: ControlLine.requestLimit))
        var buffer = [UInt8](repeating: 0, count: command.answerLimit)
        var bytes: [UInt8] = []
        while bytes.count < command.answerLimit, monotonicNow() < deadline {
            switch try connection.receive(into: &buffer) {
            case .closed: throw .closed
            case .bytes(let count):
                bytes += buffer[..<count]
                if let line = ControlLine.first(of: bytes) { return line }
            case .wouldBlock:
                var entry = pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)
                withUnsafeMutablePointer(to: &entry) { waitForEvents($0, count: 1, until: deadline) }
            }
        }
        throw .closed
    }
}

/// Why a host did not do what it was asked for.
public enum ControlError: Error, Sendable, CustomStringConvertible {
    /// No host of that process runs.
    case notRunning(process: Int32)
    /// It closed the connection, or took too long.
    case noAnswer(process: Int32)
    /// It could not do that.
    case refused(process: Int32, reason: String)
    /// Its socket can't be used.
    case link(LinkTransportError)

    public var description: String {
        switch self {
        case .notRunning(let process): "process \(process) is no share or host of this user"
        case .noAnswer(let process): "process \(process) gave no answer"
        case .refused(let process, let reason): "process \(process): \(reason)"
        case .link(let error): error.description
        }
    }
}
