import Glibc
import LinkTransport
import Synchronization

/// The transports of a link.
enum Transport: CaseIterable {
    case unix, tcp

    var name: String { self == .unix ? "a Unix socket" : "TCP on loopback" }

    /// The two ends of a connection.
    struct Ends: ~Copyable {
        let sender: FileDescriptor
        let receiver: FileDescriptor
    }

    /// Opens a connection; both ends are non-blocking.
    func pair() throws -> Ends {
        var numbers: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard self == .tcp else {
            guard socketpair(AF_UNIX, type, 0, &numbers) == 0 else { throw BenchError(what: "socketpair") }
            return Ends(sender: FileDescriptor(owning: numbers[0]), receiver: FileDescriptor(owning: numbers[1]))
        }
        let listener = try SocketListener(at: .tcp(host: "127.0.0.1", port: 0))
        let client = try SocketConnection.connect(to: listener.address)
        while true {
            guard let server = try listener.accept() else { continue }
            return Ends(
                sender: FileDescriptor(owning: dup(client.descriptor)),
                receiver: FileDescriptor(owning: dup(server.descriptor)))
        }
    }
}

/// Carries a value into a thread. Unchecked: it is handed over once, before the thread runs.
struct Handover<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

/// A thread whose error is thrown by `join`.
final class Thread: Sendable {
    private final class Work: Sendable {
        let body: @Sendable () throws -> Void
        let error = Mutex<(any Error)?>(nil)

        init(_ body: @escaping @Sendable () throws -> Void) {
            self.body = body
        }
    }

    private let thread: pthread_t
    private let work: Work

    init(_ body: @escaping @Sendable () throws -> Void) throws {
        let work = Work(body)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
                do { try work.body() } catch { work.error.withLock { $0 = error } }
                return nil
            }, Unmanaged.passRetained(work).toOpaque())
        guard code == 0 else { throw BenchError(what: "pthread_create") }
        self.thread = thread
        self.work = work
    }

    func join() throws {
        pthread_join(thread, nil)
        if let error = work.error.withLock({ $0 }) { throw error }
    }
}
