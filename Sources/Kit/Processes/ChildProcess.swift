import CLinux
import Glibc
import Synchronization

/// A child process that we started. Only this object signals and reaps it, so its process id is never used after it was
/// reaped.
///
/// Any thread may call any method. When the last reference goes away, a child that still runs gets SIGKILL.
public final class ChildProcess: Sendable {
    /// The child's process id. It may be reused once the child was reaped, so use the methods here to send signals.
    public let processID: Int32
    /// The child's output on its standard output, if `Launch.standardOutput` is `text` or `lines`.
    public let output: CollectedOutput?
    /// The child's output on its standard error, if `Launch.standardError` is `text` or `lines`.
    public let errorOutput: CollectedOutput?

    private let leadsProcessGroup: Bool
    private let status = Mutex<ProcessStatus?>(nil)
    private let input: Mutex<Int32?>

    /// Starts `launch`.
    ///
    /// - Throws: `notFound` or `notStarted` if the program can't be started, `noResources` if no pipe or thread is left
    ///   for it, or `reservedDescriptor` or `nulCharacter` if `launch` can't be passed to a process.
    public init(_ launch: Launch) throws(ProcessError) {
        // A child that has gone shows as EPIPE from write, not as a signal to us.
        if case .pipe = launch.standardInput { signal(SIGPIPE, SIG_IGN) }
        let spawned = try Spawn.start(launch)
        processID = spawned.processID
        leadsProcessGroup = launch.leadsProcessGroup
        input = Mutex(spawned.input)
        output = spawned.output
        errorOutput = spawned.errorOutput
    }

    deinit {
        closeInput()
        if poll() == nil {
            terminate(SIGKILL)
            _ = wait(within: .seconds(2))
        }
        output?.stop()
        errorOutput?.stop()
    }

    /// Starts `launch`, waits at most `limit` for it to end, and returns its status, or nil if it had to be killed. All
    /// of its output has been read by then, unless a grandchild keeps the pipe open for more than 2 s.
    ///
    /// - Throws: ``ProcessError`` if the program can't be started. Its exit status is no error.
    public static func run(_ launch: Launch, within limit: Duration) throws(ProcessError) -> (
        status: ProcessStatus?, output: String, errorOutput: String
    ) {
        let child = try ChildProcess(launch)
        child.closeInput()
        let status = child.wait(within: limit)
        if status == nil { child.stop(within: .zero) }
        child.output?.waitForEnd(within: .seconds(2))
        child.errorOutput?.waitForEnd(within: .seconds(2))
        return (status, child.output?.text ?? "", child.errorOutput?.text ?? "")
    }

    /// How the child ended, or nil while it runs. Doesn't block.
    public func poll() -> ProcessStatus? {
        status.withLock { status in
            if status != nil { return status }
            var code: Int32 = 0
            var result: Int32
            repeat { result = waitpid(processID, &code, WNOHANG) } while result < 0 && errno == EINTR
            if result == processID {
                status =
                    shim_wait_signaled(code) != 0
                    ? .signaled(shim_wait_signal(code)) : .exited(shim_wait_exit_status(code))
            } else if result < 0 {
                // Someone else reaped it, or SIGCHLD is ignored: the child is gone, and its status is unknown.
                status = .exited(-1)
            }
            return status
        }
    }

    /// Waits at most `limit` for the child to end. Returns nil if it still runs then.
    @discardableResult
    public func wait(within limit: Duration) -> ProcessStatus? {
        let deadline = ContinuousClock.now + limit
        var pause: Int32 = 1
        while true {
            if let status = poll() { return status }
            if ContinuousClock.now >= deadline { return nil }
            Glibc.poll(nil, 0, pause)
            pause = min(pause * 2, 10)
        }
    }

    /// Sends `signal` (15 is SIGTERM) to the child, or to its whole process group if it leads one. Does nothing once
    /// the child was reaped.
    public func terminate(_ signal: Int32 = 15) {
        status.withLock { status in
            if status == nil { kill(leadsProcessGroup ? -processID : processID, signal) }
        }
    }

    /// Asks the child to end with SIGTERM, waits for `grace`, and sends SIGKILL if it still runs.
    @discardableResult
    public func stop(within grace: Duration = .seconds(2)) -> ProcessStatus? {
        // While another thread writes and the child reads nothing, the pipe stays open: only the child's end ends that.
        _ = input.withLockIfAvailable { Self.close(&$0) }
        if let status = poll() { return status }
        if grace > .zero {
            terminate(SIGTERM)
            if let status = wait(within: grace) { return status }
        }
        terminate(SIGKILL)
        return wait(within: .seconds(5))
    }

    /// Writes all of `bytes` to the child's standard input, which must be `pipe`; blocks while the pipe is full.
    ///
    /// - Throws: `inputClosed` if the child no longer reads, or after ``closeInput()``.
    public func write(_ bytes: [UInt8]) throws(ProcessError) {
        let failure: Int32? = input.withLock { descriptor in
            guard let descriptor else { return EBADF }
            var written = 0
            while written < bytes.count {
                let count = bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
                if count >= 0 {
                    written += count
                } else if errno != EINTR {
                    return errno
                }
            }
            return nil
        }
        if let failure { throw .inputClosed(errno: failure) }
    }

    /// Closes the child's standard input, if it is a pipe.
    public func closeInput() {
        input.withLock { Self.close(&$0) }
    }

    private static func close(_ descriptor: inout Int32?) {
        if let open = descriptor { Glibc.close(open) }
        descriptor = nil
    }
}
