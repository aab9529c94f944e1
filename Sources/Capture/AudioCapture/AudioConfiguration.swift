public import LinkTransport
public import MediaTypes

/// The configuration of an audio capture: its sources, its format, and its host.
public struct AudioConfiguration: Sendable {
    /// A source of sound.
    public struct Source: Sendable, Equatable {
        /// The kinds of sources.
        public enum Kind: Sendable {
            /// What programs play: the monitor of a sink.
            case desktop
            case microphone
        }

        /// The source's kind.
        public var kind: Kind
        /// PulseAudio's name of the sink or the microphone, or nil for the default, which is followed when it changes.
        public var device: String?
        /// The gain in decibels.
        public var gain: Int

        /// A source of this kind.
        public init(_ kind: Kind, device: String? = nil, gain: Int = 0) {
            self.kind = kind
            self.device = device
            self.gain = gain
        }
    }

    /// The address of the host.
    public var link: LinkAddress
    /// The token shared with a host that is reached over TCP.
    public var linkToken: LinkToken?
    /// The sources to mix: one of each kind at most.
    public var sources: [Source]
    /// 1 or 2.
    public var channelCount: Int
    /// The highest bit rate; the host may ask for a lower one.
    public var bitRate = BitRate(bitsPerSecond: 96_000)
    /// The PulseAudio server, or nil for the server that the environment names.
    public var server: String?

    /// A configuration that captures `sources` for the host at `link`.
    public init(link: LinkAddress, sources: [Source], channelCount: Int) {
        self.link = link
        self.sources = sources
        self.channelCount = channelCount
    }
}
