import H264
public import MediaTypes

/// What goes into which file: found out by looking at all pictures once, before anything is written.
///
/// Its memory is bounded: at most ``partLimit`` parts, and a window of order counts.
public struct ExportPlan: Sendable {
    /// A run of pictures of one size and one format of colours: one file.
    public struct Part: Sendable {
        /// The index of its first picture among all of the recording, and how many it has.
        public internal(set) var first: Int
        public internal(set) var count = 0
        public internal(set) var size: PictureSize
        /// The parameter sets at its beginning.
        public internal(set) var parameterSets: [[UInt8]]
        /// Whether others come later.
        public internal(set) var changesParameterSets = false
        /// How many pictures at most stand in front of one that is shown before them.
        public internal(set) var reordering = 0
        /// When its first and its last picture are, since the recording began.
        public internal(set) var start: Interval
        public internal(set) var end: Interval
        /// The longest time between two pictures, one after the other.
        var longestPause = Interval.zero

        /// How long the last picture is shown, which nothing tells: as long as the one before it, and never longer than a capture
        /// is silent.
        public internal(set) var lastStep = Interval.milliseconds(33)
        static let longestLastStep = Interval.seconds(10)

        /// No picture is decoded later behind the one in front of it, and none is shown later behind its decoding: the latter
        /// is as many pictures away as may stand in front of it, and those as many from their own time.
        public var longestStep: Interval { longestPause * Int64(2 * reordering + 1) }
    }

    /// More changes of size than that are not followed: the pictures from there on are left out.
    public static let partLimit = 100

    /// The files, in order.
    public private(set) var parts: [Part] = []
    /// Pictures that are left out since there were too many changes of size.
    public private(set) var leftOut = 0

    /// The pictures from the first to the last one that was asked for, those that no file takes included.
    public var range: Range<Int> { (parts.first?.first ?? 0)..<max(end, parts.first?.first ?? 0) }

    private var end = 0
    private let from: Interval?
    private let to: Interval?
    private var index = 0
    private var reading = PictureReading()
    private var window = OrderWindow()
    private var isOver = false
    private var format = TrackFormat()

    /// A plan for the pictures from the last IDR picture at or before `from` to the last one at or before `to`.
    public init(from: Interval? = nil, to: Interval? = nil) {
        self.from = from
        self.to = to
    }

    /// How many pictures all files have.
    public var count: Int { parts.reduce(0) { $0 + $1.count } }

    /// Takes the next picture of the recording.
    public mutating func add(_ picture: TimedPictures.Picture) {
        defer { index += 1 }
        guard !isOver, let facts = reading.read(picture.accessUnit) else { return }
        if let to, picture.time > to {
            isOver = true
            return
        }
        if let from, picture.time <= from, picture.accessUnit.isIDR {
            parts = []
            leftOut = 0
        }
        end = index + 1
        let size = facts.sequence.size
        if leftOut > 0 || parts.isEmpty || !format.isSame(facts.sequence) {
            guard leftOut == 0, parts.count < Self.partLimit else {
                leftOut += 1
                return
            }
            format = TrackFormat(facts.sequence)
            parts.append(
                Part(
                    first: index, size: size, parameterSets: facts.parameterSets, start: picture.time,
                    end: picture.time))
            window = OrderWindow()
        } else if facts.changesSets {
            parts[parts.count - 1].changesParameterSets = true
        }
        let last = parts.count - 1
        // What can't be read in between stays out, so count up to here.
        parts[last].count = index - parts[last].first + 1
        let step = picture.time - parts[last].end
        if step > .zero { parts[last].lastStep = min(step, Part.longestLastStep) }
        parts[last].longestPause = max(parts[last].longestPause, step)
        parts[last].end = picture.time
        parts[last].reordering = max(parts[last].reordering, window.add(facts.place))
    }
}

/// What a track of a file keeps from its first picture to its last: many players can't follow a change.
private struct TrackFormat: Sendable {
    private var size = PictureSize(width: 0, height: 0)
    private var chromaFormat = 0
    private var bitDepth = 0

    init() {}

    init(_ sequence: SequenceParameterSet) {
        size = sequence.size
        chromaFormat = sequence.chromaFormatIDC
        bitDepth = sequence.lumaBitDepth
    }

    func isSame(_ sequence: SequenceParameterSet) -> Bool {
        size == sequence.size && chromaFormat == sequence.chromaFormatIDC && bitDepth == sequence.lumaBitDepth
    }
}
