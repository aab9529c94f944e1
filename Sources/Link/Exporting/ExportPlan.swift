import CodecTable
public import MediaTypes

/// Decides which pictures go into which file, in a first pass over all pictures before anything is written.
///
/// Its memory is bounded: at most ``partLimit`` parts, and a window of order counts.
public struct ExportPlan: Sendable {
    /// A run of pictures with the same size and colour format, which becomes one file.
    public struct Part: Sendable {
        /// The index of its first picture in the whole recording.
        public internal(set) var first: Int
        /// The number of its pictures.
        public internal(set) var count = 0
        /// The size and colour format of its pictures.
        public internal(set) var format: FrameFacts.FileFormat
        /// The headers at its beginning, which are the SPS and PPS of H.264.
        public internal(set) var headers: [[UInt8]]
        /// Whether the headers change later.
        public internal(set) var changesHeaders = false
        /// The largest number of pictures that precede another one in decoding order and are shown after it.
        public internal(set) var reordering = 0
        /// The time of its first picture since the recording began.
        public internal(set) var start: Interval
        /// The time of its last picture since the recording began.
        public internal(set) var end: Interval
        /// The channels of its sound, 1 or 2; 0 if it has none.
        public internal(set) var soundChannels = 0
        /// The longest time between two consecutive pictures.
        var maxPause = Interval.zero

        /// How long the last picture is shown. The recording doesn't say, so it is the time between the last two
        /// pictures, but at most the longest silence of a capture.
        public internal(set) var lastStep = Interval.milliseconds(33)
        static let maxLastStep = Interval.seconds(10)

        /// An upper limit for the time between two decodings, and between decoding and presentation.
        ///
        /// A picture is presented at most `reordering` pictures away from its place in decoding order, and its
        /// decoding time is that of a picture up to as many places earlier.
        public var maxStep: Interval { maxPause * Int64(2 * reordering + 1) }
    }

    /// The largest number of parts. Pictures after more changes of size are left out.
    public static let partLimit = 100

    /// The files, in order.
    public private(set) var parts: [Part] = []
    /// The number of pictures that are left out because the size changed too often.
    public private(set) var leftOut = 0
    /// The number of audio packets up to the last one that belongs to a file.
    public private(set) var soundCount = 0

    /// The range of pictures from the first to the last requested one, including those that no file contains.
    public var range: Range<Int> { (parts.first?.first ?? 0)..<max(end, parts.first?.first ?? 0) }

    private var end = 0
    private let from: Interval?
    private let to: Interval?
    private var index = 0
    private var readers = FrameReaders()
    private var window = OrderWindow()
    private var isOver = false
    private var soundIndex = 0
    private var format: FrameFacts.FileFormat?

    /// Creates a plan for the pictures from the last key frame at or before `from` to the last picture at or before
    /// `to`.
    public init(from: Interval? = nil, to: Interval? = nil) {
        self.from = from
        self.to = to
    }

    /// The number of pictures in all files.
    public var count: Int { parts.reduce(0) { $0 + $1.count } }

    /// Takes the next picture of the recording.
    public mutating func add(_ picture: TimedPictures.Picture) {
        defer { index += 1 }
        guard !isOver, let facts = readers.read(picture) else { return }
        if let to, picture.time > to {
            isOver = true
            return
        }
        if let from, picture.time <= from, picture.frame.isRandomAccess {
            parts = []
            leftOut = 0
        }
        end = index + 1
        if leftOut > 0 || parts.isEmpty || format != facts.format {
            guard leftOut == 0, parts.count < Self.partLimit else {
                leftOut += 1
                return
            }
            format = facts.format
            parts.append(
                Part(
                    first: index, format: facts.format, headers: facts.headers, start: picture.time,
                    end: picture.time))
            window = OrderWindow()
        } else if facts.changesHeaders {
            parts[parts.count - 1].changesHeaders = true
        }
        let last = parts.count - 1
        // Pictures in between that can't be read are left out, so the count extends to this picture.
        parts[last].count = index - parts[last].first + 1
        let step = picture.time - parts[last].end
        if step > .zero { parts[last].lastStep = min(step, Part.maxLastStep) }
        parts[last].maxPause = max(parts[last].maxPause, step)
        parts[last].end = picture.time
        parts[last].reordering = max(parts[last].reordering, window.add(facts.place))
    }
}

extension ExportPlan {
    /// Takes the next packet of sound of the recording. A part has the sound from its first picture to the next part,
    /// and the last one all that follows.
    public mutating func add(_ sound: TimedAudio) {
        soundIndex += 1
        guard mayContain(sound), let part = parts.lastIndex(where: { $0.start <= sound.time }) else { return }
        parts[part].soundChannels = max(parts[part].soundChannels, sound.isStereo ? 2 : 1)
        soundCount = soundIndex
    }

    /// Whether the sound is not after the end of what is exported.
    func mayContain(_ sound: TimedAudio) -> Bool {
        if let to, sound.time > to { return false }
        guard leftOut > 0, let last = parts.last else { return true }
        return sound.time <= last.end
    }
}

/// Reads the frames of a recording, whose codec may change.
struct FrameReaders: Sendable {
    private var codec = TrackFormat.Codec.h264
    private var reader = TrackFormat.Codec.h264.coding.makeReader()

    mutating func read(_ picture: TimedPictures.Picture) -> FrameFacts? {
        if picture.codec != codec {
            codec = picture.codec
            reader = codec.coding.makeReader()
        }
        return reader.read(picture.frame)
    }
}
