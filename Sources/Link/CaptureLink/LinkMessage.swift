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

/// Who a peer is.
public struct Hello: Hashable, Sendable {
    /// The version of the protocol that this code speaks.
    public static let currentVersion: UInt16 = 1

    /// Which end of the link a peer is.
    public enum Role: UInt8, Sendable, CaseIterable {
        /// Sends live pictures.
        case capture = 1
        /// Receives them.
        case host = 2
        /// Plays a recording, whose capture times are not on this machine's clock.
        case replay = 3
    }

    /// Which end of the link the peer is.
    public var role: Role
    /// The version of the protocol that the peer speaks.
    public var version: UInt16
    /// The peer's program and version, for people; at most 256 bytes of UTF-8 are sent.
    public var name: String
    /// The peer's process ID, or 0.
    public var processID: UInt32
    /// Whether the peer makes a key frame when asked.
    public var makesKeyFrames: Bool
    /// Whether the peer can report where the pointer is, instead of drawing it.
    public var tellsPointer: Bool
    /// Whether the peer can switch between 4:4:4 and 4:2:0.
    public var changesChroma: Bool

    /// Creates a hello with these fields.
    public init(
        role: Role, name: String, processID: UInt32, makesKeyFrames: Bool, tellsPointer: Bool = false,
        changesChroma: Bool = false, version: UInt16 = Hello.currentVersion
    ) {
        self.role = role
        self.version = version
        self.name = name
        self.processID = processID
        self.makesKeyFrames = makesKeyFrames
        self.tellsPointer = tellsPointer
        self.changesChroma = changesChroma
    }
}

/// The notice that precedes a picture's first unit.
public struct PictureNotice: Hashable, Sendable {
    /// Counts the pictures of an epoch, from 0.
    public var sequenceNumber: UInt64
    /// The part of the picture that has changed since the previous one; coordinates and sizes are 0...65 535 pixels.
    public var damage: PixelRectangle
    /// Whether the pointer is drawn in this picture, or this isn't known.
    public var isPointerDrawn: Bool
    /// Whether more pictures are to follow that are finer, even if nothing changes; false if this isn't known.
    public var isToBeRefined: Bool
    /// Whether the screen has changed since what this picture shows, and the change waits for the bit rate; false if
    /// this isn't known.
    public var isStale = false
    /// The quantizer of the picture, 0...51; 0 if it isn't known.
    public var qp: UInt8
    /// How long the sender waited after the first change for the rest of the same repaint.
    public var settling: Interval
    /// How long before the capture time the first change in the picture was noticed, or painted if the display says
    /// when; nil if that isn't known. Longer than `settling` where the change had to wait for its turn or for the bit
    /// rate.
    public var waited: Interval?
    /// How long after the capture time the picture was encoded and this notice was written; nil if that isn't known.
    public var worked: Interval?

    /// Whether nothing has changed since the previous picture, by a sender that looks for changes: recordings of what
    /// is published have no damage, and no times either.
    var saysUnchanged: Bool { worked != nil && (damage.width == 0 || damage.height == 0) }

    /// Creates the notice of picture `sequenceNumber`.
    public init(
        sequenceNumber: UInt64, damage: PixelRectangle, isPointerDrawn: Bool = true, isToBeRefined: Bool = false,
        qp: UInt8 = 0, settling: Interval = .zero, waited: Interval? = nil, worked: Interval? = nil
    ) {
        self.sequenceNumber = sequenceNumber
        self.damage = damage
        self.isPointerDrawn = isPointerDrawn
        self.isToBeRefined = isToBeRefined
        self.qp = qp
        self.settling = settling
        self.waited = waited
        self.worked = worked
    }
}

/// What the capture has done and used since its epoch began. The counts only grow.
public struct CaptureStatistics: Hashable, Sendable {
    /// Pictures encoded.
    public var pictures: UInt64 = 0
    /// Key frames among them.
    public var idrPictures: UInt64 = 0
    /// Bytes written to the link, headers included.
    public var bytes: UInt64 = 0
    /// Damage events of the X server.
    public var damageEvents: UInt64 = 0
    /// How many times a picture waited because the previous one was not yet written.
    public var heldBack: UInt64 = 0
    /// Nanoseconds spent in grabbing.
    public var grabNanoseconds: UInt64 = 0
    /// Nanoseconds spent in converting colours.
    public var convertNanoseconds: UInt64 = 0
    /// Nanoseconds spent in encoding.
    public var encodeNanoseconds: UInt64 = 0
    /// Memory in use now (resident), in bytes.
    public var residentBytes: UInt64 = 0
    /// What the capture has done and used since the previous statistics; nil from senders of an earlier version.
    public var recent: RecentStatistics?

    /// Creates statistics with nothing done yet.
    public init() {}
}

/// What the capture has done and used since the previous statistics.
public struct RecentStatistics: Hashable, Sendable {
    /// Nanoseconds since then.
    public var duration: UInt64 = 0
    /// Pictures encoded.
    public var pictures: UInt64 = 0
    /// Bytes written to the link, headers included.
    public var bytes: UInt64 = 0
    /// Nanoseconds of CPU time, of all threads.
    public var processorNanoseconds: UInt64 = 0
    /// The median time to encode a picture, in nanoseconds.
    public var encodeMedianNanoseconds: UInt64 = 0
    /// The 95th percentile of the time to encode a picture, in nanoseconds.
    public var encodeP95Nanoseconds: UInt64 = 0
    /// How much of the picture changed, in millionths: the mean over the pictures that showed a change.
    public var damagedMillionths: UInt64 = 0

    /// Creates statistics with nothing done.
    public init() {}
}

/// Why a peer ends the connection.
public struct EndNotice: Hashable, Sendable {
    /// The reason, for programs.
    public var reason: EndReason
    /// The reason in words, for people; at most 1024 bytes of UTF-8 are sent.
    public var text: String

    /// Creates a notice with these values.
    public init(reason: EndReason, text: String) {
        self.reason = reason
        self.text = text
    }
}

/// Why a peer ends the connection, for programs.
public enum EndReason: UInt8, Sendable, CaseIterable {
    /// It was asked to.
    case stopped = 0
    /// The X server went away.
    case displayLost = 1
    /// The window that was shared is gone.
    case windowClosed = 2
    /// The encoder failed.
    case encoderFailed = 3
    /// The host accepts no more captures, or not this one.
    case refused = 4
    /// The peers have no version of the protocol in common.
    case versionMismatch = 5
    /// What the peer sent could not be understood.
    case protocolError = 6
    /// The recording has ended.
    case endOfRecording = 7
    /// The host requires a token, and the capture has not proved that it has it.
    case unauthorised = 8
    /// Something else; see the text. A code that we don't know is read as this.
    case other = 255
}

/// A number of pictures per unit of time.
public struct FrameRate: Hashable, Comparable, Sendable {
    /// Pictures per 1000 seconds.
    public var millihertz: UInt32

    /// Creates a rate in pictures per 1000 seconds.
    public init(millihertz: UInt32) {
        self.millihertz = millihertz
    }

    /// Creates a rate in pictures per second; clamped to 0...1000.
    public init(framesPerSecond: Int) {
        millihertz = UInt32(max(0, min(1000, framesPerSecond))) * 1000
    }

    public static func < (left: FrameRate, right: FrameRate) -> Bool { left.millihertz < right.millihertz }
}
