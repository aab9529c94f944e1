import CaptureLink
import Glibc
public import LinkTransport
public import MediaTypes
import Synchronization
public import Threading
import TrackHub

/// Takes captures in over the link: listens on a Unix socket or a TCP port, or holds the end of a socket pair, on a thread of
/// its own.
///
/// One capture at a time is a track's source; another one that comes meanwhile is told so and turned away.
public final class LinkServer: Sendable {
    private let thread: NamedThread
    private let inbox: LinkInbox
    private let ingest: TrackIngest
    /// Where captures connect, with the port that it really is; nil where they can't.
    public let address: LinkAddress?
    /// What records its messages, if anything does.
    public let recorder: LinkRecorder?
    private let onRecordingEnd: @Sendable () -> Void

    /// What other threads want of the link's thread.
    enum Command: Sendable {
        case adopt(descriptor: Int32, watcher: LinkWatcher?)
        case stop
    }

    /// Begins to take captures in for `ingest`.
    ///
    /// - Parameters:
    ///   - address: where captures connect; nil where connections come by ``adopt(descriptor:)`` alone.
    ///   - admission: who is taken that comes by TCP. Without a token only addresses that this machine alone can reach are listened
    ///     at.
    ///   - name: this host, as it introduces itself to a capture.
    ///   - silencePatience: how long a capture that should run may send nothing before another may take its place, and before
    ///     who watches it is told.
    ///   - recorder: records the messages, and counts as a viewer. ``stop()`` lets it finish; closing it is its owner's part.
    ///   - onRecordingEnd: is told that nothing is recorded any more, once or more often, on any thread; it must not block.
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
                onGap: { [weak ingest] in ingest?.hub.requestKeyFrame(now: monotonicNow()) },
                onStop: { [weak ingest] in
                    ingest?.setRecorded(false)
                    onRecordingEnd()
                })
            ingest.setRecorded(true)
            // It may have stopped before anybody could be told.
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

    /// Takes a connected socket over, as one end of the pair whose other end a capture process was handed.
    ///
    /// - Parameter watcher: is told what becomes of it.
    public func adopt(descriptor: Int32, watcher: LinkWatcher? = nil) {
        inbox.post(.adopt(descriptor: descriptor, watcher: watcher))
    }

    /// Ends the thread, its connections and the socket file, and lets the recording finish, without waiting for the disk.
    /// Idempotent.
    public func stop() {
        inbox.post(.stop)
        thread.join()
        guard let recorder else { return }
        recorder.finish()
        ingest.setRecorded(false)
        onRecordingEnd()
    }

    /// What is made before the thread starts and belongs to it from then on.
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

/// The link thread's letter box: any thread posts, the link's thread is woken and takes all.
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
