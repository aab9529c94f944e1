import CaptureLink
import Clocks
import Glibc
public import LinkTransport
public import MediaTypes
import Synchronization
public import Threading
import TrackHub

/// Accepts captures over the link, on a thread of its own: it listens on a Unix socket or a TCP port, or holds one end
/// of a socket pair.
///
/// A track's source is one capture at a time; another one that connects meanwhile is told so and turned away.
public final class LinkServer: Sendable {
    private let thread: NamedThread
    private let inbox: LinkInbox
    private let ingest: TrackIngest
    /// The address where captures connect, with the actual port; nil if there is none.
    public let address: LinkAddress?
    /// The recorder of the link's messages, if there is one.
    public let recorder: LinkRecorder?
    private let onRecordingEnd: @Sendable () -> Void

    /// A command of another thread to the link's thread.
    enum Command: Sendable {
        case adopt(descriptor: Int32, watcher: LinkWatcher?)
        case stop
    }

    /// Starts to accept captures for `ingest`.
    ///
    /// - Parameters:
    ///   - address: where captures connect; nil if connections come only through ``adopt(descriptor:)``.
    ///   - admission: which peers are accepted over TCP. Without a token the server listens only at addresses that this
    ///     machine alone can reach.
    ///   - name: the host's name, as it introduces itself to a capture.
    ///   - silencePatience: how long a capture that should run may send nothing before its watcher is told, and before
    ///     another capture may take its place.
    ///   - recorder: records the messages, and counts as a viewer. ``stop()`` lets it finish; its owner closes it.
    ///   - onRecordingEnd: called when nothing is recorded any more, once or more often, on any thread; must not block.
    public init(
        at address: LinkAddress?, admission: LinkAdmission = LinkAdmission(), ingest: TrackIngest, name: String,
        silencePatience: Interval = .seconds(10), recorder: LinkRecorder? = nil,
        onRecordingEnd: @escaping @Sendable () -> Void = {}, log: EventLog
    ) throws(LinkTransportError) {
        guard let inbox = LinkInbox() else {
            throw .system(call: "eventfd", subject: "the link's thread", code: errno)
        }
        self.inbox = inbox
        self.ingest = ingest
        self.recorder = recorder
        self.onRecordingEnd = onRecordingEnd
        let openings = Mutex(Openings())
        var place: LinkAddress?
        switch address {
        case .unix?, .tcp?:
            guard let address else { break }
            let listener = try LinkListener(at: address, hasToken: admission.token != nil)
            log.info("waiting for capture on \(listener.address)")
            place = listener.address
            openings.withLock { $0.listener = LinkListenerBox(listener) }
        case .descriptor?:
            guard let address else { break }
            let connection = try LinkConnection.connect(to: address)
            openings.withLock { $0.connection = LinkConnectionBox(connection) }
        case nil:
            break
        }
        self.address = place
        let opened = openings.withLock { $0 }
        if let recorder {
            recorder.connect(
                onRoom: { inbox.wake.signal() },
                onGap: { [weak ingest] in ingest?.hub.requestKeyFrame(now: MonotonicTime.now()) },
                onStop: { [weak ingest] in
                    ingest?.setRecorded(false)
                    onRecordingEnd()
                })
            ingest.setRecorded(true)
            // It may have stopped before the callbacks were set.
            if !recorder.isRecording {
                ingest.setRecorded(false)
                onRecordingEnd()
            }
        }
        let started = NamedThread("link") {
            let loop = LinkLoop(
                listener: opened.listener?.value, connection: opened.connection?.value, admission: admission,
                ingest: ingest, name: name, inbox: inbox, silencePatience: silencePatience, recorder: recorder,
                log: log)
            loop.run()
        }
        guard let started else { throw .system(call: "pthread_create", subject: "the link's thread", code: EAGAIN) }
        thread = started
    }

    /// Takes over a connected socket, such as one end of a socket pair whose other end was passed to a capture process.
    ///
    /// - Parameter watcher: told what happens to the connection.
    public func adopt(descriptor: Int32, watcher: LinkWatcher? = nil) {
        inbox.post(.adopt(descriptor: descriptor, watcher: watcher))
    }

    /// Ends the thread and its connections, removes the socket file, and lets the recording finish without waiting for
    /// the disk. Idempotent.
    public func stop() {
        inbox.post(.stop)
        thread.join()
        guard let recorder else { return }
        recorder.finish()
        ingest.setRecorded(false)
        onRecordingEnd()
    }

    /// What is created before the thread starts and belongs to the thread from then on.
    private struct Openings: Sendable {
        var listener: LinkListenerBox?
        var connection: LinkConnectionBox?
    }
}

/// Carries a listener into the link's thread: handed over once, before the thread runs.
struct LinkListenerBox: @unchecked Sendable {
    let value: LinkListener

    init(_ value: LinkListener) {
        self.value = value
    }
}

/// Carries a connection into the link's thread: handed over once, before the thread runs.
struct LinkConnectionBox: @unchecked Sendable {
    let value: LinkConnection

    init(_ value: LinkConnection) {
        self.value = value
    }
}

/// The link thread's mailbox: any thread posts a command, which wakes the link's thread to take all of them.
final class LinkInbox: Sendable {
    let wake: WakeUp
    private let commands = Mutex<[LinkServer.Command]>([])

    init?() {
        guard let wake = WakeUp() else { return nil }
        self.wake = wake
    }

    func post(_ command: LinkServer.Command) {
        commands.withLock { $0.append(command) }
        wake.signal()
    }

    func take() -> [LinkServer.Command] {
        commands.withLock { commands in
            let taken = commands
            commands.removeAll()
            return taken
        }
    }
}
