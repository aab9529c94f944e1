import CaptureLink
import H264
public import MediaTypes
public import Recording

/// Where in a recording a replay begins: before the IDR picture that it can be decoded from.
public struct ReplayStart: Hashable, Sendable {
    /// How many messages of the recording stand in front of it.
    public var index: UInt64
    /// When that picture was recorded, from the recording's beginning.
    public var time: Interval
}

/// Finds the last IDR picture at or before a time: takes a recording's items in their order.
public struct ReplaySeek: Sendable {
    private let target: Interval
    private var places: PicturePlaces
    private var index: UInt64 = 0
    private var picture: ReplayStart?
    /// Where to begin; nil where no IDR picture stands before the time: then at the recording's beginning.
    public private(set) var start: ReplayStart?
    /// When the last message came, from the recording's beginning.
    public private(set) var duration = Interval.zero

    /// A search for `target`, in a recording whose pictures are `period` apart where it has no times.
    public init(for target: Interval, period: Interval) {
        self.target = target
        places = PicturePlaces(period: period)
    }

    /// The recording's next item.
    public mutating func take(_ item: RecordedItem) {
        if case .connection = item.content { places.beginConnection() }
        guard let message = ReplayMessage(item) else { return }
        defer { index &+= 1 }
        let place = places.place(message)
        duration = place.time
        if place.beginsPicture { picture = ReplayStart(index: index, time: place.time) }
        guard message.nalUnitType == NALUnitType.idrSlice.rawValue, let picture, picture.time <= target else { return }
        start = picture
    }
}
