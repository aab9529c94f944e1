import CLinux
import Glibc
import Synchronization

/// Resolves a name on a separate thread, because getaddrinfo(3) has no timeout.
final class NameLookup: Sendable {
    /// The state shared with the thread. It may outlive the lookup: the thread ends only when the system has answered.
    private final class Question: Sendable {
        let host: String
        let port: UInt16
        let answer = Mutex<Result<[NetworkAddress], LinkTransportError>?>(nil)
        let event: Int32

        init(host: String, port: UInt16, event: Int32) {
            self.host = host
            self.port = port
            self.event = event
        }

        deinit { Glibc.close(event) }
    }

    private let question: Question

    init(host: String, port: UInt16) throws(LinkTransportError) {
        let event = try systemCall("eventfd") { eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK)) }
        question = Question(host: host, port: port, event: event)
        let retained = Unmanaged.passRetained(question)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let question = Unmanaged<Question>.fromOpaque(argument).takeRetainedValue()
                let found = NetworkAddress.resolve(host: question.host, port: question.port, isNumeric: false)
                question.answer.withLock { $0 = found }
                var one: UInt64 = 1
                while write(question.event, &one, 8) < 0, errno == EINTR {}
                return nil
            }, retained.toOpaque())
        if code != 0 {
            retained.release()
            throw .system(call: "pthread_create", subject: host, code: code)
        }
        pthread_detach(thread)
    }

    /// A file descriptor that is readable when there is an answer.
    var descriptor: Int32 { question.event }
    /// The answer; nil until the system has answered.
    var answer: Result<[NetworkAddress], LinkTransportError>? { question.answer.withLock { $0 } }
}
