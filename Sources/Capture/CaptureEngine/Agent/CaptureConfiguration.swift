public import LinkTransport
public import MediaTypes

/// The configuration of a capture: how it takes and encodes pictures, and the host that it sends them to.
public struct CaptureConfiguration: Sendable {
    /// The address of the host.
    public var link: LinkAddress
    /// The token shared with a host that is reached over TCP; without one, capture only connects to a host on this
    /// machine.
    public var linkToken: LinkToken?
    /// The maximum number of pictures a second, 1...120, on average and to within 3 %.
    public var framesPerSecond: Int
    /// The highest bit rate; the host may ask for a lower one. If it is nil, the rate depends on the viewers' paths.
    public var bitRate: BitRate?
    /// The bit rate while nothing is known of the viewers' paths, from which it rises to `bitRate` where they carry it;
    /// nil to begin with `bitRate`.
    public var firstBitRate: BitRate?
    /// The minimum frame rate in motion, in frames per second, if the coarsest QP allows it; nil for none.
    public var lowestFramesPerSecond: Int?
    /// Whether to send only the units of pictures, with the headers of the legacy sender, whatever the host asks for.
    public var isLegacy: Bool
    /// The longest that the stream is silent while nothing changes on the screen.
    ///
    /// A browser asks for a key frame when a live track has been silent for 3 s.
    public var keepAlive: Interval = .milliseconds(2500)
    /// How long a host may leave pending data unread before capture disconnects from it.
    public var readTimeout: Interval = .seconds(60)
    /// How often a key frame is sent that the host hasn't asked for; nil for never.
    public var keyFrames: KeyFrameInterval?
    /// The scale of the pictures; nil to keep the size of what is captured.
    public var scale: PictureScale?
    /// The codec of the pictures.
    public var codec = TrackFormat.Codec.h264
    /// Which chroma formats may be sent.
    public var chroma: ChromaPreference = .yuv420
    /// A constant quantizer for all pictures, 0...51 (key frames are finer by 3); nil if the rate control chooses.
    public var qp: Int?
    /// Whether parts that were sent coarsely are sent again, finer, once the screen stands still.
    public var refines = true
    /// Whether every decision of the rate control is logged.
    public var logsRate = false

    /// The path of a recording of what is sent, a file that must not exist yet; nil for none. With a recording, capture
    /// also runs without a host.
    public var recording: String?
    /// The most bytes that the recording may have; nil for as many as the disk takes.
    public var recordingLimit: UInt64?

    /// Creates a configuration that captures for the host at `link`.
    public init(
        link: LinkAddress, framesPerSecond: Int = 30, bitRate: BitRate? = nil,
        isLegacy: Bool = false
    ) {
        self.link = link
        self.framesPerSecond = framesPerSecond
        self.bitRate = bitRate
        self.isLegacy = isLegacy
    }
}
