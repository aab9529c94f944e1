public import MediaTypes

/// The second pass over a recording: returns the pictures of a plan, part by part, in decoding order.
public struct ExportPass: Sendable {
    /// A picture to be written to a file.
    public struct Picture: Sendable {
        /// The index of the plan's part that it belongs to.
        public let part: Int
        /// The coded frame.
        public let frame: CodedFrame
        /// The decoding time, from the part's beginning.
        public let decodingTime: Interval
        /// The presentation time, from the part's beginning.
        public let presentationTime: Interval
    }

    private let plan: ExportPlan
    private var part = 0
    private var index = 0
    private var readers = FrameReaders()
    private var times: PresentationTimes

    /// Creates a pass for a plan of the same recording.
    public init(_ plan: ExportPlan) {
        self.plan = plan
        times = PresentationTimes(reordering: plan.parts.first?.reordering ?? 0)
    }

    /// Whether the plan's last picture has been returned.
    public var isDone: Bool { part >= plan.parts.count }

    /// Takes the next picture of the recording, and returns the pictures that can be written.
    public mutating func add(_ picture: TimedPictures.Picture) -> [Picture] {
        defer { index += 1 }
        // Read pictures before the first part as well, because their headers may still apply in it.
        let facts = readers.read(picture)
        guard part < plan.parts.count, index >= plan.parts[part].first else { return [] }
        var given: [Picture] = []
        if let facts { given = located(times.add(picture.frame, facts.place, at: picture.time)) }
        if index == plan.parts[part].first + plan.parts[part].count - 1 { given += endPart() }
        return given
    }

    /// Ends the recording, and returns the pictures that were held back.
    public mutating func finish() -> [Picture] {
        isDone ? [] : endPart()
    }

    private mutating func endPart() -> [Picture] {
        let last = located(times.finish())
        part += 1
        times = PresentationTimes(reordering: part < plan.parts.count ? plan.parts[part].reordering : 0)
        return last
    }

    private func located(_ pictures: [PresentationTimes.Picture]) -> [Picture] {
        let start = plan.parts[part].start
        return pictures.map {
            Picture(
                part: part, frame: $0.frame, decodingTime: $0.decodingTime - start,
                presentationTime: $0.presentationTime - start)
        }
    }
}
