import CaptureLink
public import MediaTypes
public import Recording

/// The place in a recording where a replay begins: before a key frame, so that it can be decoded.
public struct ReplayStart: Hashable, Sendable {
    /// The number of messages that precede it in the recording.
    public var index: UInt64
    /// The time of that picture, from the recording's beginning.
    public var time: Interval
}

/// Finds the last key frame at or before a time from a recording's items in order.
public struct ReplaySeek: Sendable {
    private let target: Interval
    private var places: PicturePlaces
    private var index: UInt64 = 0
    private var picture: ReplayStart?
    /// The place to begin; nil if there is no key frame before the time, so that the replay begins at the start of the
    /// recording.
    public private(set) var start: ReplayStart?
    /// The time of the last message, from the recording's beginning.
    public private(set) var duration = Interval.zero

    /// Creates a search for `target`. If the recording has no times, its pictures are `period` apart.
    public init(for target: Interval, period: Interval) {
        self.target = target
        places = PicturePlaces(period: period)
    }

    /// Takes the recording's next item.
    public mutating func take(_ item: RecordedItem) {
        if case .connection = item.content { places.beginConnection() }
        guard let message = ReplayMessage(item) else { return }
        defer { index &+= 1 }
        let place = places.place(message)
        duration = place.time
        if place.beginsPicture { picture = ReplayStart(index: index, time: place.time) }
        guard message.facts(places.codec)?.contains(.randomAccess) == true, let picture, picture.time <= target
        else { return }
        start = picture
    }
}
