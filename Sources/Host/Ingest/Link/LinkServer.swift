import CaptureLink
import Glibc
public import LinkTransport
public import MediaTypes
public import Threading
public import TrackHub

/// Accepts captures over the link, on a thread of its own: it listens on a Unix socket or a TCP port, which another
/// process may have passed on, or holds one end of a socket pair.
///
/// A track's pictures have one capture at a time as their source, and so has its sound; another capture that connects
/// meanwhile is refused, with the reason. A connection's first message decides which of them it is for.
public final class LinkServer: Sendable {
    private let thread: NamedThread
    private let inbox: Mailbox<Command>
    /// The address where captures connect, with the actual port; nil if there is none.
    public let address: LinkAddress?
    /// The recorder of the link's messages, if there is one.
    public let recorder: LinkRecorder?

    /// A command of another thread to the link's thread.
    enum Command: Sendable {
        case adopt(descriptor: Int32, watcher: LinkWatcher?)
        case stop
    }

    /// Starts to accept captures for `ingest`.
    ///
    /// - Parameters:
    ///   - sound: the hub of the track's sound.
    ///   - address: where captures connect; nil if connections come only through ``adopt(descriptor:)``.
    ///   - admission: which peers are accepted over TCP. Without a token the server listens only at addresses that only
    ///     this machine can reach.
    ///   - name: the host's name, as it introduces itself to a capture.
    ///   - silenceTimeout: how long a capture that should run may send nothing before its watcher is notified, and
    ///     before another capture may replace it.
    ///   - recorder: records the messages. ``stop()`` lets it finish; its owner attaches it to the track and closes it.
    /// - Throws: ``SocketError`` if the server can't listen at `address`, such as `alreadyListening`,
    ///   `portTaken` or `tokenRequired`; `unusableDescriptor` for `fd:` if it is no socket; `system` if no thread or
    ///   descriptor is left.
    public init(
        at address: LinkAddress?, admission: LinkAdmission = LinkAdmission(), ingest: TrackIngest, sound: TrackHub,
        name: String, silenceTimeout: Interval = .seconds(10), recorder: LinkRecorder? = nil, log: EventLog
    ) throws(SocketError) {
        guard let inbox = Mailbox<Command>() else {
            throw .system(call: "eventfd", subject: "the link's thread", code: errno)
        }
        self.inbox = inbox
        self.recorder = recorder
        // They belong to the thread from its start on.
        var listener: Sent<SocketListener>?
        var connection: Sent<SocketConnection>?
        switch address {
        case .descriptor(let number)? where PassedListener(number) == nil:
            connection = Sent(try SocketConnection.connect(to: .descriptor(number)))
        case let address?:
            let opened = try SocketListener(at: address, token: admission.token)
            log.info("waiting for capture on \(opened.address)")
            listener = Sent(opened)
        case nil:
            break
        }
        self.address = listener?.value.address
        recorder?.onRoom { inbox.wake.signal() }
        let started = NamedThread("link") { [listener, connection] in
            let loop = LinkLoop(
                listener: listener?.value, connection: connection?.value, admission: admission,
                ingest: ingest, sound: sound, name: name, inbox: inbox, silenceTimeout: silenceTimeout,
                recorder: recorder, log: log)
            loop.run()
        }
        guard let started else { throw .system(call: "pthread_create", subject: "the link's thread", code: EAGAIN) }
        thread = started
    }

    /// Takes over a connected socket, such as one end of a socket pair whose other end was passed to a capture process.
    /// After ``stop()`` it is only closed.
    ///
    /// - Parameter watcher: receives the connection's events.
    public func adopt(descriptor: Int32, watcher: LinkWatcher? = nil) {
        if !inbox.post(.adopt(descriptor: descriptor, watcher: watcher)) { close(descriptor) }
    }

    /// Ends the thread and its connections, removes the socket file, and lets the recording finish without waiting for
    /// the disk. Idempotent.
    public func stop() {
        inbox.post(.stop)
        thread.join()
        recorder?.finish()
    }
}
