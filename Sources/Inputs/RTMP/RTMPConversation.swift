import ByteCoding

/// One client's connection, from the handshake to the end of what it publishes (RTMP sections 5 and 7).
///
/// Pure: bytes go in, and it returns what to do. Whether the client may publish is decided by the caller.
public struct RTMPConversation: Sendable {
    /// What the caller has to do.
    public enum Step: Sendable {
        /// Send these bytes.
        case send([UInt8])
        /// Decide whether the client may publish into this place: call ``accept()`` or ``refuse(_:)``, and send what it
        /// returns, before asking for the next step.
        case publish(RTMPPlace)
        /// Pass on what the client publishes.
        case media(RTMPMedia)
        /// The client has ended its stream. It may publish again.
        case unpublish
        /// Send these bytes, and close the connection for this reason.
        case close([UInt8], because: String)
    }

    private enum State: Sendable {
        case handshake(RTMPHandshake)
        /// `application` is nil before the client has sent `connect`.
        case idle(application: String?)
        /// The application, and the reader of what is published.
        case publishing(String, RTMPMediaReader)
        case closed
    }

    /// The encoder's name, if the client tells it; printable ASCII.
    public private(set) var encoder: String?

    private var state = State.handshake(RTMPHandshake())
    private var reader = ChunkReader()
    /// The bytes that have been received and acknowledged, modulo 2^32.
    private var received: UInt32 = 0
    private var acknowledged: UInt32 = 0
    private var window = RTMPAnswer.window

    /// A conversation with a client that has just connected.
    public init() {}

    /// Whether the client publishes.
    public var isPublishing: Bool { if case .publishing = state { true } else { false } }

    /// Adds what has been received. Take all steps before adding more.
    public mutating func receive(_ bytes: ArraySlice<UInt8>) {
        received &+= UInt32(truncatingIfNeeded: bytes.count)
        guard case .handshake(var handshake) = state else { return reader.append(bytes) }
        handshake.append(bytes)
        state = .handshake(handshake)
    }

    /// The next step; nil if there is none before more is received.
    ///
    /// - Throws: ``RTMPError`` if the bytes can't be read. Then there are no more steps.
    public mutating func next() throws(RTMPError) -> Step? {
        do throws(RTMPError) {
            return try nextStep()
        } catch {
            state = .closed
            throw error
        }
    }

    private mutating func nextStep() throws(RTMPError) -> Step? {
        if case .handshake(var handshake) = state {
            let answer = try handshake.next()
            state = .handshake(handshake)
            if let answer { return .send(answer) }
            guard handshake.isDone else { return nil }
            state = .idle(application: nil)
            reader.append(handshake.rest)
        }
        if case .closed = state { return nil }
        if received &- acknowledged >= window {
            acknowledged = received
            return .send(RTMPAnswer.acknowledgement(received))
        }
        while let message = try reader.next() {
            if let step = try handle(message) { return step }
        }
        return nil
    }

    /// The client may publish. Returns what to send.
    public mutating func accept() -> [UInt8] {
        guard case .idle(let application?) = state else { return [] }
        state = .publishing(application, RTMPMediaReader())
        reader.unfinishedLimit = RTMPLimits.unfinished
        return RTMPAnswer.published
    }

    /// The client may not publish, or no longer. Returns what to send before the connection is closed.
    public mutating func refuse(_ refusal: RTMPRefusal) -> [UInt8] {
        state = .closed
        return RTMPAnswer.refused(refusal)
    }

    // MARK: Messages

    private mutating func handle(_ message: RTMPMessage) throws(RTMPError) -> Step? {
        switch message.kind {
        case .audio, .video: return try media(message)
        case .command, .extendedCommand: return try handle(RTMPCommand(message))
        case .data, .extendedData:
            note(message)
            return nil
        case .windowAcknowledgementSize:
            var reader = ByteReader(message.payload)
            // A window of a few bytes would have each packet answered.
            window = max(reader.uint32() ?? window, 16 << 10)
            return nil
        case .userControl:
            var reader = ByteReader(message.payload)
            guard reader.uint16() == 6, let time = reader.uint32() else { return nil }
            return .send(RTMPAnswer.pong(time))
        case .setChunkSize, .abort, .acknowledgement, .setPeerBandwidth, nil: return nil
        }
    }

    private mutating func media(_ message: RTMPMessage) throws(RTMPError) -> Step? {
        guard case .publishing(let application, var media) = state else { return nil }
        // So that the reader's buffers aren't shared, and needn't be copied.
        state = .closed
        do throws(RTMPMediaReader.Fault) {
            let found = try media.read(message)
            state = .publishing(application, media)
            return found.map { Step.media($0) }
        } catch {
            switch error {
            case .malformed(let fault): throw fault
            case .unusable(let reason): return .close(refuse(.unusable(reason)), because: reason)
            }
        }
    }

    /// Keeps the encoder's name from the stream's description. What else it says is in the stream too.
    private mutating func note(_ message: RTMPMessage) {
        // Nothing depends on it, so that one that can't be read is no fault.
        let values = (try? AMFReader.values(of: message)) ?? []
        guard let name = values.lazy.compactMap({ $0["encoder"]?.text }).first else { return }
        encoder = String(name.filter { $0.isASCII && $0 >= " " && $0 <= "~" }.prefix(RTMPLimits.encoder))
    }

    private mutating func handle(_ command: RTMPCommand) throws(RTMPError) -> Step? {
        switch command.name {
        case "connect":
            guard case .idle(nil) = state else { throw .malformed("a second connect") }
            let application = command.values.first?["app"]?.text ?? ""
            state = .idle(application: application)
            return .send(RTMPAnswer.connected(command.transaction))
        case "createStream":
            return .send(RTMPAnswer.result(command.transaction, .number(Double(RTMPAnswer.stream))))
        case "releaseStream", "FCPublish":
            // GStreamer expects no answer.
            guard command.transaction != 0 else { return nil }
            return .send(RTMPAnswer.result(command.transaction, .undefined))
        case "publish":
            guard case .idle(let application?) = state else { throw .malformed("publish before connect, or twice") }
            guard let place = RTMPPlace(application: application, key: command.text(at: 1) ?? "") else {
                return .close(refuse(.unauthorized), because: "its stream key names no room")
            }
            return .publish(place)
        case "FCUnpublish", "deleteStream", "closeStream":
            guard case .publishing(let application, _) = state else { return nil }
            state = .idle(application: application)
            return .unpublish
        case "play", "play2", "FCSubscribe":
            state = .closed
            return .close(RTMPAnswer.notPlayed, because: "it wants to play, which works over RTSP and WHEP")
        // Others don't matter to a publisher, and clients don't wait for their answers.
        default: return nil
        }
    }
}
