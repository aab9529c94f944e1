public import LinkTransport
public import MediaTypes
public import X11Capture
public import X264Encoding

/// What to capture, how, and for whom.
public struct CaptureConfiguration: Sendable {
    /// Where the host is.
    public var link: LinkAddress
    /// What a host that is reached by TCP is shown; without it only one of this machine is connected to.
    public var linkToken: LinkToken?
    /// The X display; nil for what DISPLAY names.
    public var display: String?
    /// Pictures a second at most, 1...120.
    public var framesPerSecond: Int
    /// The most bits a second; the host may ask for another.
    public var bitRate: BitRate
    /// Whether only NAL units are sent, with headers as the original sender's, whatever the host says.
    public var isLegacy: Bool
    /// How long the stream is silent at most while nothing changes on the screen.
    ///
    /// A browser asks for a key frame when a live track has been silent for 3 s.
    public var keepAlive: Interval = .milliseconds(2500)
    /// How long a host may read nothing of what waits for it before capture leaves it.
    public var readPatience: Interval = .seconds(60)
    /// How pixels may be taken, in the order in which it is tried.
    public var grabMethods: [GrabMethod] = GrabMethod.allCases
    /// How much work goes into a picture.
    public var preset: X264Preset = .ultrafast

    /// What of the display is captured.
    public var target: CaptureTarget = .screen
    /// Windows that are left out of the picture; their places stay blank.
    public var hidden: [WindowSelector] = []
    /// How large pictures are; nil: as large as what they show.
    public var scale: PictureScale?
    /// Which chroma formats may be sent.
    public var chroma: ChromaPreference = .yuv420
    /// Whether a locked screen pauses.
    public var pausesWhenLocked = false
    /// The one quantizer of all pictures, 0...51; nil: the rate control chooses.
    public var quantizer: Int?
    /// Whether what was sent coarsely is sent again, finer, once the screen stands still.
    public var refines = true
    /// Whether every decision of the rate control is logged.
    public var logsRate = false

    /// A file, which must not exist, for what is sent; nil: none. With one, capture runs without a host too.
    public var recording: String?
    /// How many bytes that file may have at most; nil: as many as the disk takes.
    public var recordingLimit: UInt64?

    /// Captures `display` for the host at `link`.
    public init(
        link: LinkAddress, display: String? = nil, framesPerSecond: Int = 30,
        bitRate: BitRate = BitRate(bitsPerSecond: 4_000_000), isLegacy: Bool = false
    ) {
        self.link = link
        self.display = display
        self.framesPerSecond = framesPerSecond
        self.bitRate = bitRate
        self.isLegacy = isLegacy
    }
}
