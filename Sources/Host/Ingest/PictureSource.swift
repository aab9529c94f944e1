public import CaptureLink
public import MediaTypes

/// The source of a track's pictures: a capture process over the link, a publisher, or an application that writes its
/// own pictures. Called on any thread; must not block.
public protocol PictureSource: AnyObject, Sendable {
    /// Whether it makes an IDR picture when asked; a legacy sender and a replay can't.
    var canMakeIDR: Bool { get }
    /// Whether it makes no pictures while nobody watches, so that its last picture is old when a viewer comes.
    var restsUnwatched: Bool { get }
    /// Asks for the next picture to be an IDR picture.
    func requestIDR()
    /// Asks for one more picture, even of a screen that stands still. Does nothing if the source can't make one.
    func requestPicture()
    /// Tells the source whether anybody watches (true) or not (false); if nobody does, it may pause.
    func setWatched(_ isRunning: Bool)
    /// Sets the bit rate that the viewers' network paths can carry; the source stays under it.
    func setTargetBitRate(_ rate: BitRate)
    /// Sets how many pictures a second the source may make at most.
    func setFrameRate(_ rate: FrameRate)
    /// Asks for the parts that stand still to be encoded in finer quality than usual, once.
    func sharpen()
    /// Tells the source that the sharer pauses (true) or goes on (false).
    ///
    /// A source that can pause sends a slate, and reports it through `TrackIngest.sharingChanged`. One that can't does
    /// nothing, and the host holds back what it sends meanwhile. Must not call `deliver` or `attach` on the track.
    func setSharerPaused(_ isHeld: Bool)
    /// Whether it can report where the pointer is, and then leave it out of its pictures.
    var tellsPointer: Bool { get }
    /// Asks for the pointer to be left out of the pictures, or to be drawn in. Called only if `tellsPointer` is true. A
    /// flag of each picture says which it is.
    func setPointerMode(_ mode: PointerMode)
    /// Its round trip and clock offset, if they are known; the source may be on another machine.
    var timing: SourceTiming? { get }
    /// Whether it can switch between 4:4:4 and 4:2:0; if so, it begins with 4:4:4.
    var changesChroma: Bool { get }
    /// Asks for the next picture to be an IDR picture in this format. Called only if `changesChroma` is true.
    func setChroma(_ format: ChromaFormat)
}

extension PictureSource {
    /// Defaults to `canMakeIDR`.
    public var restsUnwatched: Bool { canMakeIDR }
    public func setSharerPaused(_ isHeld: Bool) {}
    public func setFrameRate(_ rate: FrameRate) {
        // By default the rate can't be changed.
    }
    public func sharpen() {
        // By default the quality can't be changed.
    }
    /// Defaults to false.
    public var tellsPointer: Bool { false }
    /// Does nothing by default, since the pointer is then always drawn.
    public func setPointerMode(_ mode: PointerMode) {}
    public var timing: SourceTiming? { nil }
    public var changesChroma: Bool { false }
    public func setChroma(_ format: ChromaFormat) {
        // By default there is only one format.
    }
}
