import CLinux
import CaptureAgent
import Glibc
import LinkTransport
import Synchronization

/// A capture on a thread of its own.
final class RunningCapture: Sendable {
    private let stopDescriptor: Int32
    private let log = Mutex<[String]>([])
    private let result = Mutex<Result<CaptureEnd, CaptureError>?>(nil)

    init(_ configuration: CaptureConfiguration) throws {
        // The X library writes to sockets that may be gone.
        signal(SIGPIPE, SIG_IGN)
        stopDescriptor = eventfd(0, Int32(EFD_CLOEXEC))
        let box = Box(capture: self, configuration: configuration)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                let box = Unmanaged<Box>.fromOpaque(context).takeRetainedValue()
                box.capture.run(box.configuration)
                return nil
            }, Unmanaged.passRetained(box).toOpaque())
        if code != 0 { throw CaptureError.system(call: "pthread_create", code: code) }
        pthread_detach(thread)
    }

    /// How it has ended; nil while it runs.
    var end: Result<CaptureEnd, CaptureError>? { result.withLock { $0 } }

    /// What it has logged.
    var lines: [String] { log.withLock { $0 } }

    func stop() {
        eventfd_write(stopDescriptor, 1)
    }

    private func run(_ configuration: CaptureConfiguration) {
        let end = Result { () throws(CaptureError) in
            try CaptureAgent(configuration, signals: AgentSignals(stopDescriptor: stopDescriptor)) { _, line in
                self.log.withLock { $0.append(line) }
            }.run()
        }
        result.withLock { $0 = end }
    }

    private final class Box {
        let capture: RunningCapture
        let configuration: CaptureConfiguration
        init(capture: RunningCapture, configuration: CaptureConfiguration) {
            self.capture = capture
            self.configuration = configuration
        }
    }
}

extension RunningCapture {
    /// A capture over a pair of sockets, and the host at its other end.
    ///
    /// `sendBuffer` bounds what the kernel takes for a host that doesn't read.
    static func pair(
        display: String, sendBuffer: Int32? = nil, _ change: (inout CaptureConfiguration) -> Void = { _ in }
    ) throws -> (capture: RunningCapture, host: ReceivingHost) {
        let pair = try LinkSocketPair()
        let descriptor = fcntl(pair.childDescriptor, F_DUPFD_CLOEXEC, 3)
        pair.closeChild()
        if var size = sendBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var configuration = CaptureConfiguration(link: .descriptor(descriptor), display: display)
        change(&configuration)
        return (try RunningCapture(configuration), try ReceivingHost(pair.connection))
    }
}
