import ByteCoding
import CLinux
import CaptureLink
import Glibc
import LinkTransport
import MediaTypes
import RecordingFiles
import X264Encoding

/// The way to the host: connects, again with back-off where the host is gone, says hello, and writes pictures.
final class HostLink {
    /// What the host asks for.
    enum Request {
        /// The host is one of ours and knows nothing yet: it may be told everything.
        case greeted
        case requestIDR
        case bitRate(BitRate)
        case frameRate(FrameRate)
        case pause
        case resume
        case pointerMode(PointerMode)
        case hold(Bool)
        case chroma(ChromaFormat)
        case sharpen
    }

    private enum State {
        case waiting(until: MonotonicTime)
        case dialling(LinkDial)
        case connected(LinkConnection, since: MonotonicTime)
        case ended
    }

    private let address: LinkAddress
    /// What the host is shown before anything else; nil for nothing.
    private let token: LinkToken?
    /// Why there is no use in another try.
    private var refusal: LinkTransportError?
    let isLegacy: Bool
    private let changesChroma: Bool
    private let patience: Interval
    let encoder: MessageEncoder
    private let log: (CaptureLogLevel, String) -> Void
    let recorder: CaptureRecorder?
    private var state = State.waiting(until: .zero)
    private var delay = HostLink.shortestDelay
    private var decoder = MessageDecoder()
    // Until the peer has said hello it may be one that takes every message for a NAL unit.
    private var hasHello = false
    private var buffer = [UInt8](repeating: 0, count: 4096)
    private var writer = ByteWriter(capacity: HostLink.gathered)
    /// Control messages that the host hasn't had room for: of each kind the latest.
    private var waiting: [LinkMessage] = []
    /// When the host last took something of what waits for it.
    private var lastTaken = MonotonicTime.zero
    /// Whether the host has another capture now: we try again without a word.
    private var isTurnedAway = false
    private var hasToldWaiting = false
    private var hasBeenConnected = false
    /// Bytes given to the connection, headers included.
    private(set) var bytesSent: UInt64 = 0

    private static let shortestDelay = Interval.milliseconds(100)
    private static let longestDelay = Interval.seconds(2)
    /// How long a host that wants a token may take to say so.
    private static let helloPatience = Interval.seconds(5)
    private static let startCode: [UInt8] = [0, 0, 0, 1]
    /// So many bytes are copied together rather than written one by one.
    private static let gathered = 1 << 16

    /// `patience`: how long a host may take nothing of what waits for it before it is left.
    init(
        _ address: LinkAddress, token: LinkToken? = nil, isLegacy: Bool, changesChroma: Bool, patience: Interval,
        recorder: CaptureRecorder?,
        log: @escaping (CaptureLogLevel, String) -> Void
    ) {
        self.token = token
        self.patience = patience
        self.recorder = recorder
        self.address = address
        self.isLegacy = isLegacy
        self.changesChroma = changesChroma
        self.log = log
        encoder = MessageEncoder(
            form: isLegacy ? .legacy40 : .extended, epoch: UInt64.random(in: 1 ... .max))
    }

    /// For poll(2); -1 while there is no connection, and none is being made.
    var descriptor: Int32 {
        if case .dialling(let dial) = state { dial.descriptor } else { connection?.descriptor ?? -1 }
    }
    /// What to poll `descriptor` for.
    var events: Int16 {
        if case .dialling(let dial) = state { return dial.events }
        return Int16(wantsWrite ? POLLIN | POLLOUT : POLLIN)
    }
    var wantsWrite: Bool { connection?.wantsWrite ?? false }
    /// Whether the next picture can be written: there is a host that takes pictures, and it has taken the last one; or only a
    /// recording.
    var isReady: Bool {
        guard let connection, isGreeted else { return isRecording }
        return !connection.isClosed && !connection.hasPending
    }
    /// A host that wants a token takes nothing before it.
    private var isGreeted: Bool { token == nil || hasHello }
    /// Whether somebody takes what is sent: a host, or a recording.
    var hasReader: Bool { connection != nil || isRecording }
    /// Whether what is sent is recorded too: who records counts as a viewer.
    var isRecording: Bool { recorder?.isRecording ?? false }
    /// Whether the recording has left something out since the last call, and needs an IDR picture to go on with.
    func takeRecordingGap() -> Bool { recorder?.takeGap() ?? false }
    /// Whether the host understands more than NAL units.
    var takesMessages: Bool { hasHello && !isLegacy }
    /// Whether there is no way to a host any more.
    var hasEnded: Bool { if case .ended = state { true } else { false } }
    /// When `connectIfDue` has something to do.
    var nextAttempt: MonotonicTime {
        switch state {
        case .waiting(let until): until
        case .dialling(let dial): dial.deadline
        case .connected, .ended: .distantFuture
        }
    }

    private var connection: LinkConnection? {
        if case .connected(let connection, _) = state { connection } else { nil }
    }

    /// Connects where it is time to; true where that succeeded.
    func connectIfDue(_ now: MonotonicTime) throws(CaptureError) -> Bool {
        if let refusal { throw .link(refusal) }
        do {
            guard let connection = try dialled(now) else { return false }
            state = .connected(connection, since: now)
            decoder = MessageDecoder()
            hasHello = false
            hasBeenConnected = true
            hasToldWaiting = false
            log(isTurnedAway ? .debug : .info, "connected to \(address)")
            return true
        } catch {
            guard error.isRetryable || isNameThatWas(error) else { throw .link(error) }
            if !hasToldWaiting { log(.info, "\(error); waiting for it") }
            hasToldWaiting = true
            backOff(now)
            return false
        }
    }

    /// A name that was right once will be again: it is the network that is gone.
    private func isNameThatWas(_ error: LinkTransportError) -> Bool {
        if case .nameUnknown = error { hasBeenConnected } else { false }
    }

    /// The connection where there is one now; nil while it isn't time to try, or the host has not answered.
    private func dialled(_ now: MonotonicTime) throws(LinkTransportError) -> LinkConnection? {
        switch state {
        case .waiting(let until) where now >= until:
            let dial = try LinkDial(to: address, hasToken: token != nil)
            state = .dialling(dial)
            return try dial.advance()
        case .dialling(let dial): return try dial.advance()
        case .waiting, .connected, .ended: return nil
        }
    }

    /// Reads what the host has sent, and hands each request to `body`.
    func receive(_ now: MonotonicTime, size: PictureSize, _ body: (Request) -> Void) {
        guard let connection else { return }
        do {
            // A few reads at most: a host that floods us must not keep us from the screen.
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

    private func handle(
        _ message: LinkMessage, _ now: MonotonicTime, size: PictureSize, _ body: (Request) -> Void
    ) {
        switch message {
        case .hello(let hello):
            log(.debug, "the host is \(hello.name), process \(hello.processID)")
            if !isLegacy && !hasHello {
                hasHello = true
                greet(size)
                body(.greeted)
                // What was taken until now went into the recording alone.
                if token != nil { body(.requestIDR) }
            }
        case .requestIDR: body(.requestIDR)
        case .bitRate(let rate): body(.bitRate(rate))
        case .frameRate(let rate): body(.frameRate(rate))
        case .pause:
            noteTaken()
            body(.pause)
        case .resume:
            noteTaken()
            body(.resume)
        case .ping(let asked): answer(asked, received: now)
        case .end(let notice) where notice.reason == .unauthorised:
            refusal = .tokenRefused(text: notice.text)
        case .end(let notice) where notice.reason == .refused:
            if !isTurnedAway { log(.info, "\(notice.text); waiting for it to go") }
            isTurnedAway = true
        case .end(let notice): log(.info, "the host ends the link: \(notice.text)")
        case .pointerMode(let mode): body(.pointerMode(mode))
        case .hold(let isHeld): body(.hold(isHeld))
        case .chroma(let format): body(.chroma(format))
        case .sharpen: body(.sharpen)
        case .nalUnit, .picture, .size, .statistics, .pointerShape, .pointerPosition, .sharing, .pong, .token:
            log(.debug, "the host sent a message that only capture sends: \(message.kind)")
        }
    }

    /// The host only says what it wants to the capture that it has taken.
    private func noteTaken() {
        if isTurnedAway { log(.info, "connected to \(address)") }
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
        var words: [LinkMessage] = [hello, .size(size)]
        if let token, case .tcp = address { words.insert(.token(token.bytes), at: 0) }
        write(words)
    }

    /// Says what our clock shows, unless that would have to wait: it would be of no use then.
    private func answer(_ asked: MonotonicTime, received: MonotonicTime) {
        guard takesMessages, let connection, !connection.hasPending else { return }
        write([.pong(ClockEcho(asked: asked, received: received, sent: .now()))])
    }

    /// Sends a control message, to a host that understands it and to the recording.
    ///
    /// While the host hasn't taken what was written before, it waits, and the next one of its kind takes its place: a host
    /// that doesn't read, but asks for things, makes nothing pile up here.
    func send(_ message: LinkMessage) {
        if isRecording, !isLegacy { recorder?.add(encoder.encode(message), .extended) }
        guard takesMessages, let connection else { return }
        if connection.hasPending {
            waiting.removeAll { $0.kind == message.kind }
            waiting.append(message)
        } else {
            write([message])
        }
    }

    private func write(_ messages: [LinkMessage]) {
        writer.removeAll()
        for message in messages { encoder.append(message, to: &writer) }
        writeOut()
    }

    /// Sends a picture; parameter sets go in front of an IDR picture, as messages of their own.
    ///
    /// All of a small picture is one system call: each one wakes the host up.
    func send(
        _ picture: PicturePipeline.Picture, notice: PictureNotice, sequenceParameterSet: [UInt8],
        pictureParameterSet: [UInt8]
    ) throws(CaptureError) {
        if isRecording { try record(picture, notice, [sequenceParameterSet, pictureParameterSet]) }
        guard connection != nil, isGreeted else { return }
        writer.removeAll()
        if takesMessages { encoder.append(.picture(notice), to: &writer) }
        do throws(LinkError) {
            if picture.encoded.isIDR {
                for set in [sequenceParameterSet, pictureParameterSet] {
                    try appendHeader(of: set.count, picture.captureTime, isLast: false, to: &writer)
                    writer.append(set)
                }
            }
            for index in 0..<picture.encoded.count {
                let bytes = picture.encoded[index].bytes
                let isLast = index == picture.encoded.count - 1
                try appendHeader(of: bytes.count, picture.captureTime, isLast: isLast, to: &writer)
                if writer.count + bytes.count <= Self.gathered {
                    writer.append(bytes)
                } else {
                    writeOut(followedBy: UnsafeRawBufferPointer(bytes))
                }
            }
        } catch {
            throw .message(error)
        }
        writeOut()
    }

    func appendHeader(
        of count: Int, _ captureTime: MonotonicTime, isLast: Bool, to writer: inout ByteWriter
    ) throws(LinkError) {
        try encoder.appendNALUnitHeader(
            payloadCount: Self.startCode.count + count, captureTime: captureTime, endsAccessUnit: isLast, to: &writer)
        writer.append(Self.startCode)
    }

    /// Writes what was gathered, and `payload` behind it.
    private func writeOut(followedBy payload: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)) {
        defer { writer.removeAll() }
        guard let connection, writer.count + payload.count > 0 else { return }
        do throws(LinkTransportError) {
            if !connection.hasPending { lastTaken = .now() }
            try connection.enqueue(header: writer.bytes, payload: payload)
            bytesSent &+= UInt64(writer.count + payload.count)
        } catch {
            loseWriting(connection, .now(), error)
        }
    }

    /// Writes what waits, as far as the host takes it.
    func flush(_ now: MonotonicTime) {
        guard let connection else { return }
        do throws(LinkTransportError) {
            let before = connection.pendingBytes
            try connection.flush()
            if connection.pendingBytes < before { lastTaken = now }
        } catch {
            loseWriting(connection, now, error)
            return
        }
        // Before the next picture: it may be what they say.
        guard !connection.hasPending, !waiting.isEmpty else { return }
        write(waiting)
        waiting.removeAll(keepingCapacity: true)
    }

    /// When a host that takes nothing more is left, or one that doesn't say that it wants a token.
    var stallDeadline: MonotonicTime {
        if let helloDeadline { return helloDeadline }
        guard let connection, connection.hasPending else { return .distantFuture }
        return lastTaken + patience
    }

    private var helloDeadline: MonotonicTime? {
        guard case .connected(_, let since) = state, !isGreeted else { return nil }
        return since + Self.helloPatience
    }

    /// Leaves a host that has taken nothing for too long: it hangs, and a picture for it takes memory here.
    func leaveStalledHost(_ now: MonotonicTime) {
        guard now >= stallDeadline else { return }
        if helloDeadline != nil {
            return lose(now, "no word of a host at \(address) for \(Int64(Self.helloPatience.seconds)) s")
        }
        let reason = "the host has read nothing for \(Int64(patience.seconds.rounded())) s"
        log(.warning, "\(reason); the link is given up")
        lose(now, reason)
    }

    /// Tells the host why we end, gives it a moment to take that, and closes.
    func end(_ reason: EndReason, _ text: String) {
        waiting.removeAll()
        let notice = LinkMessage.end(EndNotice(reason: reason, text: text))
        if isRecording, !isLegacy { recorder?.add(encoder.encode(notice), .extended) }
        // Also behind what the host has not taken yet: nothing else follows.
        if takesMessages { write([notice]) }
        let deadline = MonotonicTime.now() + .milliseconds(500)
        while wantsWrite, MonotonicTime.now() < deadline {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            poll(&waiting, 1, 50)
            flush(.now())
        }
        connection?.close()
        state = .ended
    }

    /// Finishes the recording, once the host was told; gives what the disk has not taken of it in time.
    func closeRecording() -> RecordingFileError? { recorder?.close() }

    /// A host that ends the link closes it behind its last message: where we find out by writing, that is still to be read.
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
        guard case .connected(let connection, let since) = state else { return }
        connection.close()
        waiting.removeAll()
        log(isTurnedAway ? .debug : .info, "link lost: \(reason)")
        if case .descriptor = address {
            state = .ended
            return
        }
        // A host that takes us and ends us at once must not be asked ten times a second.
        if now - since >= Self.longestDelay { delay = Self.shortestDelay }
        backOff(now)
    }

    private func backOff(_ now: MonotonicTime) {
        state = .waiting(until: now + delay)
        delay = min(delay * 2, Self.longestDelay)
    }
}
