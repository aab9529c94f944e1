/// What the link, recordings and files must know of a codec, apart from how to decode it. There is one for each codec.
public protocol FrameCoding: Sendable {
    /// Makes a builder of frames that has seen nothing.
    func makeBuilder() -> any FrameBuilder
    /// Makes a reader of frames that has seen nothing.
    func makeReader() -> any FrameReader
    /// The properties of `unit` for code that passes it on without decoding; nil if it can't be a unit of this codec.
    func facts(of unit: ArraySlice<UInt8>) -> UnitFacts?
}

/// The properties of a unit for code that passes it on without decoding.
public struct UnitFacts: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// It holds a part of a picture or of sound, as a slice does.
    public static let content = UnitFacts(rawValue: 1)
    /// It belongs to a frame with which decoding can begin.
    public static let randomAccess = UnitFacts(rawValue: 2)
    /// Later frames can't be decoded without it, as with an SPS or PPS.
    public static let header = UnitFacts(rawValue: 4)
    /// A header of the kind that comes first when a sender repeats all its headers, as with an SPS.
    public static let firstHeader = UnitFacts(rawValue: 8)
    /// A frame may begin with it.
    public static let mayBeginFrame = UnitFacts(rawValue: 16)
}

/// Builds the frames of a stream from its units, in decoding order.
///
/// If the sender marks the end of each frame, `add` takes the units and `endFrame` ends each frame. If it doesn't,
/// `addUnmarked` finds the ends. A key frame begins with all headers received so far. Units that can't be used are
/// dropped and counted; no input stops the builder. Each unit is given with `00 00 00 01` before it.
public protocol FrameBuilder: Sendable {
    /// The builder's counts so far. A builder that replaces another one continues the other's counts.
    var counters: FrameCounters { get set }
    /// Whether no unit of the next frame has been added.
    var isEmpty: Bool { get }
    /// Whether the pending frame has content, not only headers.
    var hasContent: Bool { get }
    /// The capture time of the pending frame; nil if none was given.
    var captureTime: MonotonicTime? { get }
    /// The headers that frames from here on may need, in the order in which they are to be sent.
    var headers: [[UInt8]] { get }

    /// Adds a unit to the pending frame.
    mutating func add(_ bytes: [UInt8], captureTime: MonotonicTime?)
    /// Adds a unit of a stream that doesn't mark the ends of its frames. If it begins the next frame, it ends the
    /// pending one. Returns whether it begins another frame, even if the frame before it was unusable.
    @discardableResult
    mutating func addUnmarked(_ bytes: [UInt8]) -> Bool
    /// Ends the pending frame; `next()` returns it unless it is unusable.
    mutating func endFrame()
    /// Ends the pending frame because the next one begins; the mark that its sender should have set is missing. Does
    /// nothing if no content is pending.
    mutating func endWithoutMark()
    /// Drops the pending frame, whose end will never come.
    mutating func discardPending()
    /// Begins another stream: drops the pending frame and all headers.
    mutating func reset()
    /// Returns the next complete frame, or nil if there is none.
    mutating func next() -> CodedFrame?
}

/// The counts of a `FrameBuilder` so far. All counts only grow.
public struct FrameCounters: Hashable, Sendable {
    /// Frames returned.
    public var frames: UInt64 = 0
    /// Key frames among them.
    public var randomAccessFrames: UInt64 = 0
    /// Units added.
    public var units: UInt64 = 0
    /// Units dropped because no reader needs them, such as delimiters and filler.
    public var skippedUnits: UInt64 = 0

    /// Fault: units that can't be read, or of a type that no encoder sends.
    public var invalidUnits: UInt64 = 0
    /// Fault: units of a frame that had already been ended by a timeout.
    public var lateUnits: UInt64 = 0
    /// Fault: frames without content.
    public var emptyFrames: UInt64 = 0
    /// Fault: frames dropped because their headers were never sent.
    public var withoutHeaders: UInt64 = 0
    /// Fault: frames dropped because they exceeded the limit of bytes or units.
    public var oversizedFrames: UInt64 = 0
    /// Fault: frames without the mark that their sender should have set at the end.
    public var missingEnds: UInt64 = 0
    /// Fault: frames dropped because the stream ended or restarted in the middle of them.
    public var cutOff: UInt64 = 0

    /// The sum of all faults.
    public var faults: UInt64 {
        invalidUnits &+ lateUnits &+ emptyFrames &+ withoutHeaders &+ oversizedFrames &+ missingEnds &+ cutOff
    }

    /// All counts at zero.
    public init() {}
}

/// Reads the properties of frames that a file needs, in decoding order.
public protocol FrameReader: Sendable {
    /// The properties of the next frame; nil if it can't be read.
    mutating func read(_ frame: CodedFrame) -> FrameFacts?
}

/// The properties of a frame that a file needs in addition to its bytes.
public struct FrameFacts: Sendable {
    /// The properties of a track that must not change within a file, because many players can't handle a change.
    public struct FileFormat: Hashable, Sendable {
        /// The codec.
        public var codec: TrackFormat.Codec
        /// The visible size of a picture.
        public var size: PictureSize
        /// How the samples are stored; each codec has numbers of its own for this.
        public var samples: [Int]

        /// A format with these properties.
        public init(codec: TrackFormat.Codec, size: PictureSize, samples: [Int]) {
            self.codec = codec
            self.size = size
            self.samples = samples
        }
    }

    /// A frame's place in output order.
    public struct Place: Hashable, Sendable {
        /// Grows by one at each frame that, with all frames after it, is shown after all frames before it.
        public let run: UInt64
        /// Increases in output order within a run.
        public let count: Int64

        /// A place with these values.
        public init(run: UInt64, count: Int64) {
            self.run = run
            self.count = count
        }
    }

    /// The format that a file must have to contain the frame.
    public var format: FileFormat
    /// All headers that currently apply.
    public var headers: [[UInt8]]
    /// Whether they differ from those of the previous frame.
    public var changesHeaders: Bool
    /// The place in output order.
    public var place: Place

    /// A frame with these properties.
    public init(format: FileFormat, headers: [[UInt8]], changesHeaders: Bool, place: Place) {
        self.format = format
        self.headers = headers
        self.changesHeaders = changesHeaders
        self.place = place
    }
}
