import CLinux
import Glibc
import LinkTransport
import MediaTypes
import RecordingFiles
import Synchronization
import Threading
import X11Capture

@testable import CaptureEngine

/// A capture on a thread of its own.
final class RunningCapture: Sendable {
    private let stopDescriptor: Int32
    private let log = Mutex<[String]>([])
    private let result = Mutex<Result<CaptureEnd, CaptureError>?>(nil)

    /// Opens the recording that the configuration names.
    typealias RecorderMaker =
        @Sendable (
            _ path: String, _ log: EventLog
        ) throws(RecordingFileError) -> CaptureRecorder

    /// Opens the screen, which warns by the log.
    typealias ScreenOpener =
        @Sendable (
            _ log: EventLog
        ) throws(CaptureError) -> any ScreenSource

    /// Captures the screen of an X server.
    convenience init(
        _ configuration: CaptureConfiguration, display: String, makeRecorder: RecorderMaker? = nil
    ) throws {
        try self.init(configuration, makeRecorder: makeRecorder) { log throws(CaptureError) in
            do throws(X11CaptureError) {
                return try ScreenCapture(display: display, onWarning: { log.warning($0) })
            } catch {
                throw .screen(error)
            }
        }
    }

    /// `makeRecorder`: opens the recording in another way than capture does.
    init(
        _ configuration: CaptureConfiguration, makeRecorder: RecorderMaker? = nil, openScreen: @escaping ScreenOpener
    ) throws {
        // The X library writes to sockets that may be gone.
        signal(SIGPIPE, SIG_IGN)
        stopDescriptor = eventfd(0, Int32(EFD_CLOEXEC))
        let box = Box(capture: self, configuration: configuration, openScreen: openScreen, makeRecorder: makeRecorder)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                let box = Unmanaged<Box>.fromOpaque(context).takeRetainedValue()
                box.capture.run(box.configuration, box.openScreen, box.makeRecorder)
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

    private func run(
        _ configuration: CaptureConfiguration, _ openScreen: @escaping ScreenOpener, _ makeRecorder: RecorderMaker?
    ) {
        let signals = AgentSignals(stopDescriptor: stopDescriptor)
        let log = EventLog { _, line in self.log.withLock { $0.append(line) } }
        let openScreen = { () throws(CaptureError) in try openScreen(log) }
        let end = Result { () throws(CaptureError) in
            guard let makeRecorder else {
                return try CaptureAgent(configuration, signals: signals, log: log, openScreen: openScreen).run()
            }
            return try CaptureAgent(configuration, signals: signals, log: log, openScreen: openScreen) {
                path throws(RecordingFileError) in
                try makeRecorder(path, log)
            }.run()
        }
        result.withLock { $0 = end }
    }

    private final class Box {
        let capture: RunningCapture
        let configuration: CaptureConfiguration
        let openScreen: ScreenOpener
        let makeRecorder: RecorderMaker?
        init(
            capture: RunningCapture, configuration: CaptureConfiguration, openScreen: @escaping ScreenOpener,
            makeRecorder: RecorderMaker?
        ) {
            self.capture = capture
            self.configuration = configuration
            self.openScreen = openScreen
            self.makeRecorder = makeRecorder
        }
    }
}

extension RunningCapture {
    /// A capture over a pair of sockets, and the host at its other end.
    ///
    /// - Parameters:
    ///   - sendBuffer: bounds what the kernel takes for a host that doesn't read.
    ///   - recordingLimit: how many bytes of a recording may wait; it is then of a file that is there already.
    ///   - keyFramePeriod: when a recording of changing pictures wants an IDR picture.
    static func pair(
        display: String, sendBuffer: Int32? = nil, recordingLimit: Int? = nil, keyFramePeriod: Interval? = nil,
        _ change: (inout CaptureConfiguration) -> Void = { _ in }
    ) throws -> (capture: RunningCapture, host: ReceivingHost) {
        let pair = try LinkSocketPair()
        let descriptor = fcntl(pair.childDescriptor, F_DUPFD_CLOEXEC, 3)
        pair.closeChild()
        if var size = sendBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var configuration = CaptureConfiguration(link: .descriptor(descriptor))
        change(&configuration)
        var makeRecorder: RecorderMaker?
        if let recordingLimit {
            makeRecorder = { (path, log) throws(RecordingFileError) in
                let file = try RecordingFile(creating: path, overwriting: true)
                return try CaptureRecorder(file, limit: recordingLimit, log: log)
            }
        } else if let keyFramePeriod {
            makeRecorder = { (path, log) throws(RecordingFileError) in
                try CaptureRecorder(try RecordingFile(creating: path), keyFramePeriod: keyFramePeriod, log: log)
            }
        }
        return (
            try RunningCapture(configuration, display: display, makeRecorder: makeRecorder),
            try ReceivingHost(pair.connection)
        )
    }
}
