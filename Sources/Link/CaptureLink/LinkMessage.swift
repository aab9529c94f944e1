public import MediaTypes

/// A message of the capture link, with its payload decoded (Protocol/capture-link.md).
public enum LinkMessage: Hashable, Sendable {
    /// One unit of a frame behind the four bytes `00 00 00 01`; of H.264, one NAL unit.
    case unit([UInt8])
    /// The codec of the stream from here on; a stream without this message is H.264.
    case format(TrackFormat.Codec)
    /// Who the sender is.
    case hello(Hello)
    /// The number and the damaged area of the picture whose units follow.
    case picture(PictureNotice)
    /// The size that the pictures have from here on.
    case size(PictureSize)
    /// The capture's work and resource use so far.
    case statistics(CaptureStatistics)
    /// Why the sender ends the connection; nothing follows.
    case end(EndNotice)
    /// What the pointer looks like from here on.
    case pointerShape(CursorImage)
    /// Where the pointer is.
    case pointerPosition(PointerPosition)
    /// Whether the sharer is sharing now.
    case sharing(SharingState)
    /// The answer to a ping: the time of the capture's clock.
    case pong(ClockEcho)
    /// The capture's nonce of 32 bytes, and the code of 32 bytes that proves that it has the token (``LinkProof``).
    case answer(nonce: [UInt8], code: [UInt8])
    /// Make the next picture a key frame.
    case requestKeyFrame
    /// The bit rate to stay under.
    case bitRate(BitRate)
    /// The bit rate that the viewers' paths have been seen to carry; 0 if nothing is known of them.
    case carried(BitRate)
    /// The frame rate to stay under.
    case frameRate(FrameRate)
    /// Stop taking pictures.
    case unwatched
    /// Take pictures again.
    case watched
    /// Whether the pointer is to be drawn into the pictures.
    case pointerMode(PointerMode)
    /// Whether the sharer pauses (true) or goes on (false).
    case sharerPaused(Bool)
    /// Whether the sharer has muted the microphone in the mix of an audio capture.
    case microphoneMuted(Bool)
    /// Where a viewer points and what it has drawn, for the sharer's own screen; nil if nothing is to be shown any
    /// more.
    case pointing(ViewerPoint?)
    /// The chroma format that all viewers can decode.
    case chroma(ChromaFormat)
    /// Asks for the time of the capture's clock; carries the time of the host's clock.
    case ping(MonotonicTime)
    /// Encode the parts that stand still in finer quality than usual.
    case sharpen
    /// The host's nonce of 32 bytes; asks the capture to prove that it has the token.
    case challenge(nonce: [UInt8])
    /// The code of 32 bytes that proves that the host has the token as well.
    case proof(code: [UInt8])

    /// The kind that the message's header carries.
    public var kind: MessageKind {
        switch self {
        case .unit: .unit
        case .format: .format
        case .hello: .hello
        case .picture: .picture
        case .size: .size
        case .statistics: .statistics
        case .end: .end
        case .pointerShape: .pointerShape
        case .pointerPosition: .pointerPosition
        case .sharing: .sharing
        case .requestKeyFrame: .requestKeyFrame
        case .bitRate: .bitRate
        case .carried: .carried
        case .frameRate: .frameRate
        case .unwatched: .unwatched
        case .watched: .watched
        case .pointerMode: .pointerMode
        case .sharerPaused: .sharerPaused
        case .microphoneMuted: .microphoneMuted
        case .pointing: .pointing
        case .chroma: .chroma
        case .ping: .ping
        case .pong: .pong
        case .answer: .answer
        case .sharpen: .sharpen
        case .challenge: .challenge
        case .proof: .proof
        }
    }
}

/// A message as received from the link.
public struct ReceivedMessage: Hashable, Sendable {
    /// Its header: flags, stream, capture time and epoch.
    public let header: MessageHeader
    /// The form of the connection.
    public let form: HeaderFormat
    /// Its payload.
    public let body: LinkMessage

    /// A message with these parts.
    public init(header: MessageHeader, form: HeaderFormat, body: LinkMessage) {
        self.header = header
        self.form = form
        self.body = body
    }
}
