public import CaptureLink
import Clocks
import Glibc
public import LinkTransport
public import MediaTypes
public import Threading

/// Exchanges messages with the host, over one connection after another: the hello and the token, the host's requests,
/// frames, and the end.
///
/// Belongs to the capture thread. `HostAttempts` makes the connections, `OutgoingMessages` writes to them.
public final class HostLink {
    private let configuration: HostLinkConfiguration
    /// The error that makes another attempt useless.
    private var refusal: SocketError?
    /// Encodes the messages to send, under its own epoch.
    public let encoder: MessageEncoder
    private let log: EventLog
    private var attempts: HostAttempts
    private var connection: SocketConnection?
    private var outgoing: OutgoingMessages
    private var decoder = MessageDecoder()
    private var greeting: HostGreeting
    private var buffer = [UInt8](repeating: 0, count: SocketConnection.minBuffer)
    /// Whether the host has refused us, because it has another capture or not our token. We keep trying, and log it
    /// only once.
    private var isTurnedAway = false
    /// Whether a host has accepted this capture. Its token was right then; a later refusal may be from another host.
    private var wasAccepted = false
    /// The longest text of a host that is logged, in Unicode scalars.
    private static let maxText = 200
    /// Whether no host can be reached any more.
    public private(set) var hasEnded = false

    /// Creates a link that is not connected yet.
    public init(_ configuration: HostLinkConfiguration, log: EventLog) {
        self.configuration = configuration
        self.log = log
        encoder = MessageEncoder(
            form: configuration.isLegacy ? .legacy40 : .extended, epoch: UInt64.random(in: 1 ... .max),
            stream: configuration.stream)
        attempts = HostAttempts(configuration.link, token: configuration.token, log: log)
        greeting = HostGreeting(configuration, .zero)
        outgoing = OutgoingMessages(encoder)
    }

    /// The descriptor for poll(2); -1 while there is no connection, and none is being made.
    public var descriptor: Int32 { connection?.descriptor ?? attempts.descriptor }
    /// The events to poll `descriptor` for.
    public var events: Int16 {
        connection == nil ? attempts.events : Int16(wantsWrite ? POLLIN | POLLOUT : POLLIN)
    }
    private var wantsWrite: Bool { connection?.wantsWrite ?? false }
    /// Whether there is a connection.
    public var isConnected: Bool { connection != nil }
    /// Whether there is a host that accepts frames.
    public var acceptsFrames: Bool { connection != nil && greeting.isOver }
    /// Whether the next frame can be written: a host that accepts frames has taken the last one.
    public var isReady: Bool {
        guard let connection, greeting.isOver else { return false }
        return !connection.isClosed && !connection.hasPending
    }
    /// Whether the host understands messages other than units of frames.
    public var takesMessages: Bool { greeting.hasHello && !configuration.isLegacy }
    /// The time at which `connectIfDue` has something to do.
    public var nextAttempt: MonotonicTime { attempts.deadline }
    /// The bytes handed to connections, headers included.
    public var bytesSent: UInt64 { outgoing.bytesSent }

    /// Connects if an attempt is due; returns true if that succeeded.
    ///
    /// - Throws: ``SocketError`` that makes another attempt useless, such as `tokenRefused`. If the host only
    ///   isn't there yet, the method returns false and tries again later.
    public func connectIfDue(_ now: MonotonicTime) throws(SocketError) -> Bool {
        if let refusal { throw refusal }
        guard let new = try attempts.connection(now) else { return false }
        if var size = configuration.sendBuffer {
            // If the system refuses, the buffer only stays larger.
            setsockopt(new.descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        connection = new
        decoder = MessageDecoder()
        greeting = HostGreeting(configuration, now)
        log.write(isTurnedAway ? .debug : .info, "connected to \(configuration.link)")
        return true
    }

    /// Reads what the host has sent, and passes each request to `body`, as well as the first hello: from then on, the
    /// host understands all messages, but knows nothing yet. `introduction` is sent to it before that call.
    public func receive(
        _ now: MonotonicTime, introduction: @autoclosure () -> [LinkMessage], _ body: (LinkMessage) -> Void
    ) {
        guard let connection else { return }
        do {
            // The number of reads is limited, so that a host that floods us doesn't keep us from our work.
            reading: for _ in 0..<16 {
                switch try connection.receive(into: &buffer) {
                case .bytes(let count): decoder.push(buffer[..<count])
                case .wouldBlock: break reading
                case .closed:
                    connectionLost(now, "the host has closed the capture link")
                    break reading
                }
                while self.connection != nil, let message = try decoder.next() {
                    handle(message.body, now, introduction, body)
                }
                if self.connection == nil { break reading }
            }
        } catch let error as LinkError where error.isTLS {
            refuse(now, .hostEncrypts)
        } catch {
            connectionLost(now, "\(error)")
        }
    }

    /// Disconnects from the host: for good, unless a host has accepted this capture before.
    private func refuse(_ now: MonotonicTime, _ reason: SocketError) {
        if !wasAccepted {
            refusal = reason
            return connectionLost(now, "\(reason)")
        }
        if !isTurnedAway { log.warning("\(reason); trying again") }
        isTurnedAway = true
        connectionLost(now, "\(reason)")
    }

    /// The host's words about the end of the link.
    private static func text(of notice: EndNotice) -> String {
        String(String.UnicodeScalarView(notice.text.unicodeScalars.prefix(maxText)))
    }

    private func handle(
        _ received: LinkMessage, _ now: MonotonicTime, _ introduction: () -> [LinkMessage],
        _ body: (LinkMessage) -> Void
    ) {
        let message: LinkMessage
        switch greeting.take(received) {
        case .handle(let next): message = next
        case .send(let answer): return write([answer])
        case .refuse(let text): return refuse(now, .tokenRefused(text: text))
        case .nothing: return
        }
        switch message {
        case .hello(let hello):
            log.debug("the host is \(hello.name), process \(hello.processID)")
            if !configuration.isLegacy, greeting.noteHello() {
                write(introduction())
                body(message)
            }
        case .unwatched, .watched:
            // The host has accepted this capture: it sends these requests to no other.
            if isTurnedAway { log.info("connected to \(configuration.link)") }
            isTurnedAway = false
            wasAccepted = true
            body(message)
        case .requestKeyFrame, .bitRate, .carried, .frameRate, .pointerMode, .sharerPaused, .microphoneMuted, .chroma,
            .sharpen, .pointing:
            body(message)
        case .ping(let asked): answer(asked, received: now)
        case .end(let notice) where notice.reason == .unauthorised:
            refuse(now, .tokenRefused(text: Self.text(of: notice)))
        case .challenge:
            // A legacy sender sends only frames; the host decides whether it accepts them.
            if !configuration.isLegacy { refuse(now, .tokenRefused(text: HostCheck.refusal)) }
        case .end(let notice) where notice.reason == .refused:
            if !isTurnedAway { log.info("\(Self.text(of: notice)); retrying") }
            isTurnedAway = true
            connectionLost(now, Self.text(of: notice))
        case .end(let notice): connectionLost(now, "the host ends the capture link: \(Self.text(of: notice))")
        case .unit, .format, .picture, .size, .statistics, .pointerShape, .pointerPosition, .sharing, .pong, .answer,
            .proof:
            log.debug("the host sent a message that is not expected of it: \(message.kind)")
        }
    }

    /// Answers a ping with our clock's time, unless the answer would have to wait: then it would be useless.
    private func answer(_ asked: MonotonicTime, received: MonotonicTime) {
        guard takesMessages, let connection, !connection.hasPending else { return }
        write([.pong(ClockEcho(asked: asked, received: received, sent: .now()))])
    }

    /// Sends a control message to a host that understands it.
    public func send(_ message: LinkMessage) {
        guard takesMessages else { return }
        writing { connection throws(SocketError) in try outgoing.send(message, on: connection) }
    }

    private func write(_ messages: [LinkMessage]) {
        writing { connection throws(SocketError) in try outgoing.write(messages, to: connection) }
    }

    /// Sends a frame to a host that accepts frames, after its notice if the host understands that.
    ///
    /// - Throws: The fault in the length of a unit.
    public func send(_ frame: OutgoingFrame, notice: LinkMessage? = nil) throws(LinkError) {
        guard let connection, greeting.isOver else { return }
        do throws(SendingError) {
            try outgoing.write(frame, notice: takesMessages ? notice : nil, to: connection)
        } catch {
            switch error {
            case .link(let failure): loseWriting(connection, .now(), failure)
            case .message(let problem): throw problem
            }
        }
    }

    /// Writes pending data, as far as the host accepts it.
    public func flush(_ now: MonotonicTime) {
        writing { connection throws(SocketError) in try outgoing.flush(connection, now) }
    }

    /// Runs `body`, which writes to the host; if it finds that the host is gone, the link is lost.
    private func writing(_ body: (SocketConnection) throws(SocketError) -> Void) {
        guard let connection else { return }
        do throws(SocketError) {
            try body(connection)
        } catch {
            loseWriting(connection, .now(), error)
        }
    }

    /// The time at which to disconnect a host that reads nothing, or that hasn't proved that it has the token.
    public var stallDeadline: MonotonicTime {
        guard let connection else { return .distantFuture }
        if let deadline = greeting.deadline { return deadline }
        guard let idle = outgoing.idle(on: connection) else { return .distantFuture }
        return idle + configuration.readTimeout
    }

    /// Disconnects a host that has read nothing for too long: it hangs, and a frame for it occupies memory here.
    public func leaveStalledHost(_ now: MonotonicTime) {
        guard now >= stallDeadline else { return }
        if !greeting.isOver {
            var line = "no word of a host at \(configuration.link) for \(Int64(HostGreeting.timeout.seconds)) s"
            if case .tcp = configuration.link { line += "; if it was started with tls:, use that here, too" }
            return connectionLost(now, line)
        }
        let reason = "the host has read nothing for \(Int64(configuration.readTimeout.seconds.rounded())) s"
        log.warning("\(reason); the capture link is given up")
        connectionLost(now, reason)
    }

    /// Sends the host the reason for the end, gives it a moment to read the message, and closes the connection.
    public func end(_ reason: EndReason, _ text: String) {
        outgoing.forgetWaiting()
        // Write this even after data that the host has not taken yet, because nothing else follows.
        if takesMessages { write([.end(EndNotice(reason: reason, text: text))]) }
        let deadline = MonotonicTime.now() + .milliseconds(500)
        while wantsWrite, MonotonicTime.now() < deadline {
            waitForEvents(on: descriptor, POLLOUT, until: .now() + .milliseconds(50))
            flush(.now())
        }
        connection?.close()
        connection = nil
        attempts.giveUp()
        hasEnded = true
    }

    /// Handles a write that found the connection closed. A host that ends the link closes it after its last message,
    /// which may still have to be read.
    private func loseWriting(_ connection: SocketConnection, _ now: MonotonicTime, _ error: SocketError) {
        var text = "\(error)"
        for _ in 0..<16 {
            guard case .bytes(let count)? = try? connection.receive(into: &buffer) else { break }
            decoder.push(buffer[..<count])
            do throws(LinkError) {
                while let message = try decoder.next() {
                    guard case .end(let notice) = message.body else { continue }
                    if notice.reason == .unauthorised {
                        return refuse(now, .tokenRefused(text: Self.text(of: notice)))
                    }
                    text = "the host ends the capture link: \(Self.text(of: notice))"
                }
            } catch {
                if error.isTLS { return refuse(now, .hostEncrypts) }
                break
            }
        }
        connectionLost(now, text)
    }

    private func connectionLost(_ now: MonotonicTime, _ reason: String) {
        guard let connection else { return }
        connection.close()
        self.connection = nil
        outgoing.forgetWaiting()
        log.write(isTurnedAway ? .debug : .info, "capture link lost: \(reason)")
        if case .descriptor = configuration.link {
            hasEnded = true
        } else {
            attempts.resume(now, connectedSince: greeting.since)
        }
    }
}
