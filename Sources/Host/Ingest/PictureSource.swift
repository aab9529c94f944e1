public import CaptureLink
public import MediaTypes

/// Where a track's pictures come from: a capture process over the link, or an application that writes its own.
/// Called on any thread; must not block.
public protocol PictureSource: AnyObject, Sendable {
    /// Whether it makes an IDR picture when asked; a legacy sender and a replay don't.
    var canMakeIDR: Bool { get }
    /// Whether it makes no pictures while nobody looks: its last is old by the time that somebody comes.
    var restsUnwatched: Bool { get }
    /// Make the next picture an IDR picture.
    func requestIDR()
    /// Make one more picture, also of a screen that stands still; a source that can't does nothing.
    func requestPicture()
    /// Someone looks (true) or nobody does (false): the source may pause.
    func setRunning(_ isRunning: Bool)
    /// What the viewers' paths carry: stay under it.
    func setTargetBitRate(_ rate: BitRate)
    /// Make so many pictures at most.
    func setFrameRate(_ rate: FrameRate)
    /// Make finer than usual what stands still, once.
    func sharpen()
    /// The sharer pauses (true) or goes on: one that can sends a slate, and says so by `TrackIngest.sharingChanged`. What
    /// one that can't sends meanwhile is held back behind it; it does nothing. Not to deliver or attach from within.
    func setHeld(_ isHeld: Bool)
    /// Whether it can tell where the pointer is, and then leave it out of its pictures.
    var tellsPointer: Bool { get }
    /// Leave the pointer out of the pictures, or draw it in; only asked of a source that can tell it. Each picture says by
    /// its own flag which it does.
    func setPointerMode(_ mode: PointerMode)
    /// How far away it is, where that is known: another machine, perhaps.
    var timing: SourceTiming? { get }
    /// Whether it can go from 4:4:4 to 4:2:0 and back; it begins with 4:4:4 then.
    var changesChroma: Bool { get }
    /// Make the next picture an IDR picture of that format; asked only of one that can.
    func setChroma(_ format: ChromaFormat)
}

extension PictureSource {
    /// As a source does that can be asked.
    public var restsUnwatched: Bool { canMakeIDR }
    public func setHeld(_ isHeld: Bool) {}
    public func setFrameRate(_ rate: FrameRate) {
        // Its pictures come when they come.
    }
    public func sharpen() {
        // They are as sharp as they are.
    }
    /// Not unless a source says so.
    public var tellsPointer: Bool { false }
    /// Nothing to do where the pointer is always drawn.
    public func setPointerMode(_ mode: PointerMode) {}
    public var timing: SourceTiming? { nil }
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
    /// A source is there and shows nothing of the screen, on purpose.
    case paused(PauseReason)
    /// The source went away then, for that reason; viewers keep the last picture.
    case gone(since: MonotonicTime, reason: String)
}

/// Why viewers don't see the screen though its source is there.
public enum PauseReason: Sendable, Equatable {
    /// The sharer has paused.
    case sharer
    /// The screen is locked.
    case screenLocked
    /// What is shared, a window or a monitor, is not on the screen just now.
    case windowHidden
}
