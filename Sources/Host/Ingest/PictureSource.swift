public import MediaTypes

/// Where a track's pictures come from: a capture process over the link, or an application that writes its own.
/// Called on any thread; must not block.
public protocol PictureSource: AnyObject, Sendable {
    /// Whether it makes an IDR picture when asked; a legacy sender and a replay don't.
    var canMakeIDR: Bool { get }
    /// Make the next picture an IDR picture.
    func requestIDR()
    /// Make one more picture, also of a screen that stands still; a source that can't does nothing.
    func requestPicture()
    /// Someone looks (true) or nobody does (false): the source may pause.
    func setRunning(_ isRunning: Bool)
    /// What the viewers' paths carry: stay under it.
    func setTargetBitRate(_ rate: BitRate)
    /// Whether it can go from 4:4:4 to 4:2:0 and back; it begins with 4:4:4 then.
    var changesChroma: Bool { get }
    /// Make the next picture an IDR picture of that format; asked only of one that can.
    func setChroma(_ format: ChromaFormat)
}

/// A source of one format need not speak of it.
extension PictureSource {
    public var changesChroma: Bool { false }
    public func setChroma(_ format: ChromaFormat) {
        // It has no other.
    }
}

/// What a track's source does, as viewers are told.
public enum SourceState: Sendable, Equatable {
    /// No source has come yet.
    case waiting
    /// A source is there.
    case live
    /// The source went away then, for that reason; viewers keep the last picture.
    case gone(since: MonotonicTime, reason: String)
}
