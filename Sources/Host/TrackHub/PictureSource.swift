public import CaptureLink
public import MediaTypes

/// The source of a track's pictures, or of its sound: a capture process over the link, a publisher, or an application
/// that writes its own pictures. Its methods are called on any thread, but on one at a time, and must not block.
public protocol PictureSource: AnyObject, Sendable {
    /// Whether it makes a key frame on request; a legacy sender and a replay can't.
    var makesKeyFrames: Bool { get }
    /// Whether it makes no pictures while nobody watches. Its last picture is then outdated when a viewer comes.
    var restsUnwatched: Bool { get }
    /// Asks for the next picture to be a key frame.
    func requestKeyFrame()
    /// Asks for one more picture, even of a screen that stands still. Does nothing if the source can't make one.
    func requestPicture()
    /// Tells the source whether anybody watches (true) or not (false); if nobody does, it may pause.
    func setWatched(_ isRunning: Bool)
    /// Sets the bit rate that the viewers' network paths can carry; the source stays under it.
    func setTargetBitRate(_ rate: BitRate)
    /// Tells the source what the viewers' network paths have been seen to carry, 0 if nothing is known of them.
    func setCarriedBitRate(_ rate: BitRate)
    /// Which of the sharer's orders it carries out; the others do nothing.
    var obeys: SourceOrders { get }
    /// Sets how many pictures a second the source may make at most.
    func setFrameRate(_ rate: FrameRate)
    /// Asks for the parts of the picture that stand still to be encoded again, finer than usual.
    func sharpen()
    /// Shows on the sharer's own screen where a viewer points and what it has drawn; nil removes all that is shown. A
    /// source without a screen does nothing. May be called at the same time as another method.
    func showPoint(_ point: ViewerPoint?)
    /// Tells the source that the sharer pauses (true) or goes on (false).
    ///
    /// A source that can pause sends a slate, and reports it through
    /// ``TrackHub/sharingChanged(of:to:pausesItself:)``. A source that can't pause does nothing, and the host holds its
    /// pictures back.
    func setSharerPaused(_ isPaused: Bool)
    /// Tells a source of sound that the sharer mutes the microphone (true) or no longer (false). A source without a
    /// microphone of its own does nothing.
    func setMicrophoneMuted(_ isMuted: Bool)
    /// Whether the source can report the pointer's position, and leave the pointer out of its pictures on request.
    var tellsPointer: Bool { get }
    /// Asks for the pointer to be left out of the pictures, or to be drawn in. Called only if `tellsPointer` is true. A
    /// flag of each picture says which it is.
    func setPointerMode(_ mode: PointerMode)
    /// The round-trip time to the source and the offset of its clock, if they are known; the source may be on another
    /// machine.
    var timing: SourceTiming? { get }
    /// Whether it can switch between 4:4:4 and 4:2:0. Such a source begins with 4:4:4.
    var changesChroma: Bool { get }
    /// Asks for the next picture to be a key frame in this format. Called only if `changesChroma` is true.
    func setChroma(_ format: ChromaFormat)
}

extension PictureSource {
    /// Defaults to `makesKeyFrames`.
    public var restsUnwatched: Bool { makesKeyFrames }
    // By default none of these means anything to the source: each packet of sound is a key frame, and a publisher sends
    // by its own settings until its session ends.
    public func requestKeyFrame() {}
    public func requestPicture() {}
    public func setWatched(_ isRunning: Bool) {}
    public func setTargetBitRate(_ rate: BitRate) {}
    public func setSharerPaused(_ isPaused: Bool) {}
    public func setMicrophoneMuted(_ isMuted: Bool) {}
    public func setCarriedBitRate(_ rate: BitRate) {
        // By default the source has a rate of its own, and only limits lower it.
    }
    /// None by default.
    public var obeys: SourceOrders { [] }
    public func setFrameRate(_ rate: FrameRate) {
        // By default the rate can't be changed.
    }
    public func sharpen() {
        // By default the quality can't be changed.
    }
    public func showPoint(_ point: ViewerPoint?) {
        // By default there is no screen.
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

/// Orders of the sharer about how a source's pictures are made.
public struct SourceOrders: OptionSet, Sendable {
    /// Make no more pictures a second.
    public static let frameRate = SourceOrders(rawValue: 1)
    /// Send no more bits a second.
    public static let bitRate = SourceOrders(rawValue: 2)
    /// Encode what stands still more finely.
    public static let sharpen = SourceOrders(rawValue: 4)

    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }
}

/// What a source can do.
public struct SourceAbilities: Hashable, Sendable {
    var makesKeyFrames: Bool
    var restsUnwatched: Bool
    var tellsPointer: Bool
    var changesChroma: Bool
}

extension PictureSource {
    /// What the source can do now.
    var abilities: SourceAbilities {
        SourceAbilities(
            makesKeyFrames: makesKeyFrames, restsUnwatched: restsUnwatched, tellsPointer: tellsPointer,
            changesChroma: changesChroma)
    }

    /// Does the source's part of `action`.
    func perform(_ action: TrackAction) {
        switch action {
        case .tell(.chroma(let format)): setChroma(format)
        case .tell(.bitRate(let rate)): setTargetBitRate(rate)
        case .tell(.carried(let rate)): setCarriedBitRate(rate)
        case .tell(.frameRate(let rate)): setFrameRate(rate)
        case .tell(.running(let isRunning)): setWatched(isRunning)
        case .requestKeyFrame: requestKeyFrame()
        case .requestPicture: requestPicture()
        case .setSharerPaused(let isPaused): setSharerPaused(isPaused)
        case .setMicrophoneMuted(let isMuted): setMicrophoneMuted(isMuted)
        case .setPointerMode(let mode): setPointerMode(mode)
        case .sourceChanged, .makeKeyFrame, .noteFallbackBegan, .encodeLow, .makeLowKeyFrame, .checkPictures,
            .announce, .report:
            break
        }
    }
}

/// How far away a source is, in time.
public struct SourceTiming: Sendable, Hashable {
    /// How long the last ping and its answer took.
    public var roundTrip: Interval
    /// How far the source's clock is ahead of this machine's.
    public var clockOffset: Interval

    /// Creates a timing with these values.
    public init(roundTrip: Interval, clockOffset: Interval) {
        self.roundTrip = roundTrip
        self.clockOffset = clockOffset
    }
}
