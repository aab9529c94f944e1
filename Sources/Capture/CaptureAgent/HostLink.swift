import CLinux
import CaptureLink
import Clocks
import Glibc
import LinkTransport
import MediaTypes
import RecordingFiles
import Threading
import X264Encoding

/// Exchanges messages with the host, over one connection after another: the hello and the token, the host's requests,
/// pictures, and the end.
///
/// Belongs to the capture thread. ``HostAttempts`` makes the connections, ``OutgoingMessages`` writes to them.
final class HostLink {
    /// A request of the host.
    enum Request {
        /// The host understands all messages and knows nothing yet: it may be told everything.
        case greeted
        case requestIDR
        case bitRate(BitRate)
        case frameRate(FrameRate)
        case unwatched
        case watched
        case pointerMode(PointerMode)
        case sharerPaused(Bool)
        case chroma(ChromaFormat)
        case sharpen
    }

    /// The token that a host has to have as well; nil if any host will do.
    private let token: LinkToken?
    /// The check that this connection's host has the token; nil if it is done or not required.
    private var check: HostCheck?
    /// The hello that the host sent before it proved that it has the token.
    private var earlyHello: LinkMessage?
    /// The error that makes another attempt useless.
    private var refusal: LinkTransportError?
    let isLegacy: Bool
    private let changesChroma: Bool
    private let patience: Interval
    let encoder: MessageEncoder
    private let log: (CaptureLogLevel, String) -> Void
    let recorder: CaptureRecorder?
    private var attempts: HostAttempts
    private var connection: LinkConnection?
    private var connectedSince = MonotonicTime.zero
    private var outgoing: OutgoingMessages
    private var decoder = MessageDecoder()
    // Until the peer has said hello, it may be one that takes every message for a NAL unit.
    private var hasHello = false
    private var buffer = [UInt8](repeating: 0, count: 4096)
    /// Whether the host has another capture now. We keep trying, but don't log it.
    private var isTurnedAway = false
    /// Whether no host can be reached any more.
    private(set) var hasEnded = false

    /// How long a host may take to prove that it has the token.
    private static let helloPatience = Interval.seconds(5)

    /// Creates a link that is not connected yet.
    ///
    /// - Parameter patience: How long a host may leave pending data unread before it is disconnected.
    init(
        _ address: LinkAddress, token: LinkToken? = nil, isLegacy: Bool, changesChroma: Bool, patience: Interval,
        recorder: CaptureRecorder?,
        log: @escaping (CaptureLogLevel, String) -> Void
    ) {
        self.token = token
        self.patience = patience
        self.recorder = recorder
        self.isLegacy = isLegacy
        self.changesChroma = changesChroma
        self.log = log
        encoder = MessageEncoder(
            form: isLegacy ? .legacy40 : .extended, epoch: UInt64.random(in: 1 ... .max))
        attempts = HostAttempts(address, hasToken: token != nil, log: log)
        outgoing = OutgoingMessages(encoder)
    }

    /// The descriptor for poll(2); -1 while there is no connection, and none is being made.
    var descriptor: Int32 { connection?.descriptor ?? attempts.descriptor }
    /// The events to poll `descriptor` for.
    var events: Int16 {
        connection == nil ? attempts.events : Int16(wantsWrite ? POLLIN | POLLOUT : POLLIN)
    }
    var wantsWrite: Bool { connection?.wantsWrite ?? false }
    /// Whether the next picture can be written: a host that accepts pictures has taken the last one, or there is only a
    /// recording.
    var isReady: Bool {
        guard let connection, isGreeted else { return isRecording }
        return !connection.isClosed && !connection.hasPending
    }
    /// Whether messages may be sent: nothing is sent to a host before it has proved that it has the token, nor does it
    /// accept anything before that.
    private var isGreeted: Bool { check == nil && (token == nil || hasHello) }
    /// Whether anything takes what is sent: a host, or a recording.
    var hasReader: Bool { connection != nil || isRecording }
    /// Whether what is sent is also recorded; a recording counts as a viewer.
    var isRecording: Bool { recorder?.isRecording ?? false }
    /// Returns whether the recording has left something out since the last call, and needs an IDR picture to go on.
    func takeRecordingGap() -> Bool { recorder?.takeGap() ?? false }
    /// Whether the recording, which `picture` has been added to, needs an IDR picture among those that follow.
    func recordingWantsKeyFrame(behind picture: PicturePipeline.Picture) -> Bool {
        isRecording && recorder?.wantsKeyFrame(behind: picture) == true
    }
    /// Whether the host understands messages other than NAL units.
    var takesMessages: Bool { hasHello && !isLegacy }
    /// The time at which `connectIfDue` has something to do.
    var nextAttempt: MonotonicTime { attempts.deadline }
    /// The bytes handed to connections, headers included.
    var bytesSent: UInt64 { outgoing.bytesSent }

    /// Connects if an attempt is due; returns true if that succeeded.
    func connectIfDue(_ now: MonotonicTime) throws(CaptureError) -> Bool {
        if let refusal { throw .link(refusal) }
        do throws(LinkTransportError) {
            guard let new = try attempts.connection(now) else { return false }
            connection = new
        } catch {
            throw .link(error)
        }
        connectedSince = now
        decoder = MessageDecoder()
        hasHello = false
        check = newCheck()
        earlyHello = nil
        log(isTurnedAway ? .debug : .info, "connected to \(attempts.address)")
        return true
    }

    /// Reads what the host has sent, and passes each request to `body`.
    func receive(_ now: MonotonicTime, size: PictureSize, _ body: (Request) -> Void) {
        guard let connection else { return }
        do {
            // The number of reads is limited, so that a host that floods us doesn't keep us from the screen.
            reading: for _ in 0..<16 {
                switch try connection.receive(into: &buffer) {
                case .bytes(let count): decoder.push(buffer[..<count])
                case .wouldBlock: break reading
                case .closed:
                    lose(now, "the host has closed the link")
                    break reading
                }
                while let message = try decoder.next() { handle(message.body, now, size: size, body) }
            }
        } catch {
            lose(now, "\(error)")
        }
    }

    /// The token check for a new connection; nil if none is required.
    private func newCheck() -> HostCheck? {
        guard let token, case .tcp = attempts.address else { return nil }
        var generator = SystemRandomNumberGenerator()
        return HostCheck(token: token.bytes, nonce: LinkProof.nonce(using: &generator))
    }

    /// Handles a message of a host that has to prove that it has the token.
    ///
    /// - Returns: The message that is still to be handled: this one if it isn't part of the proof, or the hello that
    ///   came before the proof was complete.
    private func prove(_ message: LinkMessage, _ check: HostCheck, _ now: MonotonicTime) -> LinkMessage? {
        var check = check
        let step = check.take(message)
        self.check = check
        switch step {
        case .answer(let answer): write([answer])
        case .proven:
            self.check = nil
            return earlyHello
        case .failed(let failure): refuse(now, failure.words)
        case .other:
            if case .end = message { return message }
            if case .hello = message { earlyHello = message }
        }
        return nil
    }

    /// Disconnects from the host for good.
    private func refuse(_ now: MonotonicTime, _ words: String) {
        refusal = .tokenRefused(text: words)
        lose(now, words)
    }

    private func handle(
        _ received: LinkMessage, _ now: MonotonicTime, size: PictureSize, _ body: (Request) -> Void
    ) {
        var message = received
        if let check {
            guard connection != nil, let left = prove(received, check, now) else { return }
            message = left
        }
        switch message {
        case .hello(let hello):
            log(.debug, "the host is \(hello.name), process \(hello.processID)")
            if !isLegacy && !hasHello {
                hasHello = true
                greet(size)
                body(.greeted)
                // The pictures taken until now went only into the recording.
                if token != nil { body(.requestIDR) }
            }
        case .requestIDR: body(.requestIDR)
        case .bitRate(let rate): body(.bitRate(rate))
        case .frameRate(let rate): body(.frameRate(rate))
        case .unwatched:
            noteTaken()
            body(.unwatched)
        case .watched:
            noteTaken()
            body(.watched)
        case .ping(let asked): answer(asked, received: now)
        case .end(let notice) where notice.reason == .unauthorised:
            refusal = .tokenRefused(text: notice.text)
        case .challenge:
            // A legacy sender sends nothing but pictures; the host decides whether it accepts them.
            if !isLegacy { refuse(now, HostCheck.refusal) }
        case .end(let notice) where notice.reason == .refused:
            if !isTurnedAway { log(.info, "\(notice.text); waiting for it to go") }
            isTurnedAway = true
        case .end(let notice): log(.info, "the host ends the link: \(notice.text)")
        case .pointerMode(let mode): body(.pointerMode(mode))
        case .sharerPaused(let isHeld): body(.sharerPaused(isHeld))
        case .chroma(let format): body(.chroma(format))
        case .sharpen: body(.sharpen)
        case .nalUnit, .picture, .size, .statistics, .pointerShape, .pointerPosition, .sharing, .pong, .answer,
            .proof:
            log(.debug, "the host sent a message that is not expected of it: \(message.kind)")
        }
    }

    /// Notes that the host has accepted this capture: it sends these requests to no other.
    private func noteTaken() {
        if isTurnedAway { log(.info, "connected to \(attempts.address)") }
        isTurnedAway = false
    }

    var hello: LinkMessage {
        .hello(
            Hello(
                role: .capture, name: "screenrelay-capture \(screenRelayVersion)",
                processID: UInt32(clamping: getpid()),
                canMakeIDR: true, tellsPointer: true, changesChroma: changesChroma))
    }

    private func greet(_ size: PictureSize) {
        write([hello, .size(size)])
    }

    /// Answers a ping with our clock's time, unless the answer would have to wait: then it would be useless.
    private func answer(_ asked: MonotonicTime, received: MonotonicTime) {
        guard takesMessages, let connection, !connection.hasPending else { return }
        write([.pong(ClockEcho(asked: asked, received: received, sent: .now()))])
    }

    /// Sends a control message to a host that understands it, and to the recording.
    func send(_ message: LinkMessage) {
        if isRecording, !isLegacy { recorder?.add(encoder.encode(message), .extended) }
        guard takesMessages else { return }
        writing { connection throws(LinkTransportError) in try outgoing.send(message, on: connection) }
    }

    private func write(_ messages: [LinkMessage]) {
        writing { connection throws(LinkTransportError) in try outgoing.write(messages, to: connection) }
    }

    /// Sends a picture; before an IDR picture, the parameter sets are sent as messages of their own.
    func send(
        _ picture: PicturePipeline.Picture, notice: PictureNotice, sequenceParameterSet: [UInt8],
        pictureParameterSet: [UInt8]
    ) throws(CaptureError) {
        let sets = picture.encoded.isIDR ? [sequenceParameterSet, pictureParameterSet] : []
        if isRecording { try record(picture, notice, sets) }
        guard let connection, isGreeted else { return }
        do throws(CaptureError) {
            try outgoing.write(
                picture.encoded, captureTime: picture.captureTime, notice: takesMessages ? notice : nil,
                parameterSets: sets, to: connection)
        } catch {
            guard case .link(let failure) = error else { throw error }
            loseWriting(connection, .now(), failure)
        }
    }

    /// Writes pending data, as far as the host takes it.
    func flush(_ now: MonotonicTime) {
        writing { connection throws(LinkTransportError) in try outgoing.flush(connection, now) }
    }

    /// Lets `body` write to the host; if that finds that the host is gone, the link is lost.
    private func writing(_ body: (LinkConnection) throws(LinkTransportError) -> Void) {
        guard let connection else { return }
        do throws(LinkTransportError) {
            try body(connection)
        } catch {
            loseWriting(connection, .now(), error)
        }
    }

    /// The time at which to disconnect a host that takes nothing more, or one that hasn't proved that it has the token.
    var stallDeadline: MonotonicTime {
        if let helloDeadline { return helloDeadline }
        guard let connection, let idle = outgoing.idle(on: connection) else { return .distantFuture }
        return idle + patience
    }

    private var helloDeadline: MonotonicTime? {
        guard connection != nil, !isGreeted else { return nil }
        return connectedSince + Self.helloPatience
    }

    /// Disconnects a host that has taken nothing for too long: it hangs, and a picture for it takes memory here.
    func leaveStalledHost(_ now: MonotonicTime) {
        guard now >= stallDeadline else { return }
        if helloDeadline != nil {
            return lose(now, "no word of a host at \(attempts.address) for \(Int64(Self.helloPatience.seconds)) s")
        }
        let reason = "the host has read nothing for \(Int64(patience.seconds.rounded())) s"
        log(.warning, "\(reason); the link is given up")
        lose(now, reason)
    }

    /// Tells the host why capture ends, gives it a moment to read that, and closes the connection.
    func end(_ reason: EndReason, _ text: String) {
        outgoing.forgetWaiting()
        let notice = LinkMessage.end(EndNotice(reason: reason, text: text))
        if isRecording, !isLegacy { recorder?.add(encoder.encode(notice), .extended) }
        // Write this even after data that the host has not taken yet, because nothing else follows.
        if takesMessages { write([notice]) }
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

    /// Finishes the recording, after the host was told; returns an error if the disk has not taken all of it in time.
    func closeRecording() -> RecordingFileError? { recorder?.close() }

    /// Handles a write that found the connection closed. A host that ends the link closes it after its last message,
    /// which may still have to be read.
    private func loseWriting(_ connection: LinkConnection, _ now: MonotonicTime, _ error: LinkTransportError) {
        var text = "\(error)"
        for _ in 0..<16 {
            guard case .bytes(let count)? = try? connection.receive(into: &buffer) else { break }
            decoder.push(buffer[..<count])
            while let message = try? decoder.next() {
                guard case .end(let notice) = message.body else { continue }
                text = "the host ends the link: \(notice.text)"
                if notice.reason == .unauthorised { refusal = .tokenRefused(text: notice.text) }
            }
        }
        lose(now, text)
    }

    private func lose(_ now: MonotonicTime, _ reason: String) {
        guard let connection else { return }
        connection.close()
        self.connection = nil
        outgoing.forgetWaiting()
        log(isTurnedAway ? .debug : .info, "link lost: \(reason)")
        if case .descriptor = attempts.address {
            hasEnded = true
        } else {
            attempts.resume(now, connectedSince: connectedSince)
        }
    }
}
