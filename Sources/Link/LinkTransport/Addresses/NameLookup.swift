import Glibc
import Threading

/// Resolves a name on a separate thread, because getaddrinfo(3) has no timeout.
struct NameLookup {
    /// Shared with the thread, which may outlive the lookup: it ends only when the system has answered.
    private let found: OneShot<Result<[NetworkAddress], SocketError>>

    init(host: String, port: UInt16) throws(SocketError) {
        guard let found = OneShot<Result<[NetworkAddress], SocketError>>() else {
            throw .system(call: "eventfd", subject: "", code: errno)
        }
        let thread = NamedThread("lookup") {
            found.give(NetworkAddress.resolve(host: host, port: port, isNumeric: false))
        }
        if thread == nil { throw .system(call: "pthread_create", subject: host, code: EAGAIN) }
        self.found = found
    }

    /// A file descriptor that is readable when there is an answer.
    var descriptor: Int32 { found.descriptor }
    /// The answer; nil until the system has answered.
    var answer: Result<[NetworkAddress], SocketError>? { found.given }
}
