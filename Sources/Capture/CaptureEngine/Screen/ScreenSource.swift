public import CaptureLink
public import ColorConversion
public import LinkTransport
public import MediaTypes

/// A screen, or a part of one, that a ``CaptureAgent`` takes pictures of: it reports what changes there, and hands out
/// its pixels. Each display system has its own implementation; `ScreenCapture` of X11Capture is the one for X servers.
///
/// A display is read in one of two ways. From some, the source requests what has changed and its pixels; replies may
/// bring events with them, and something may be painted between two requests. Others send whole pictures on
/// `fileDescriptor`, which the source keeps until they are taken. What only the first kind has is optional.
///
/// All rectangles and positions are in pixels of the captured area. All methods are called on the agent's thread, which
/// polls `fileDescriptor` and `pointerDescriptor` for reading. Before each poll it calls `pollQueuedEvents`; after each
/// poll, and at `nextCheck`, it calls `readEvents`. It calls `lookAtPointer` at `nextPointerLook`, and `fetchDamage` at
/// `pollDue` even if no event has arrived. A method throws `CaptureError.screen`, with the reason, if no more pictures
/// can be taken; capture then ends.
public protocol ScreenSource: AnyObject, CustomStringConvertible {
    /// One line for the log: the captured target, its size, and the method.
    var description: String { get }
    /// The target that the user wants to be captured.
    var target: CaptureTarget { get }
    /// The size of the captured area in pixels; changes only in `readEvents`, which then returns true.
    var size: PictureSize { get }
    /// How a pixel is stored in memory; changes only together with `size`.
    var pixelFormat: ScreenToPlanes.PixelFormat { get }
    /// Whether there is nothing to take pictures of for now, because the window isn't mapped or the monitor is off.
    var isWaiting: Bool { get }
    /// Whether the screen is locked, so that nothing of it may be shown; false if the lock isn't watched.
    var isLocked: Bool { get }

    /// A descriptor that is readable when the display has sent something.
    var fileDescriptor: Int32 { get }
    /// A descriptor that is readable when the display has sent something about the pointer; -1 if that arrives on
    /// `fileDescriptor`.
    var pointerDescriptor: Int32 { get }
    /// The time at which `readEvents` has something to do even if the display sends nothing.
    var nextCheck: MonotonicTime { get }
    /// Handles the events that arrived with replies since `readEvents`; returns true if there were any. `readEvents`
    /// must then be called before the thread sleeps, because `fileDescriptor` isn't readable for them. Never waits.
    func pollQueuedEvents() -> Bool
    /// Reads what the display has sent; returns true if the size has changed since the last call.
    ///
    /// If `fileDescriptor` or `pointerDescriptor` isn't readable, false for `isReadable` or `isPointerReadable` saves a
    /// system call; events that arrived with replies are read all the same. Throws if the target is gone for good.
    func readEvents(isReadable: Bool, isPointerReadable: Bool) throws(CaptureError) -> Bool

    /// Tells whether pictures and the pointer are needed; called when that changes, and they are needed at first. They
    /// aren't while nothing is sent or recorded, nor while viewers see a notice. A display that sends whole pictures
    /// need not send any then.
    func setNeeded(_ isNeeded: Bool)
    /// Whether the display, which sent nothing while it wasn't needed, has sent no picture since. None is taken then,
    /// because it would show the screen as it was. Becomes false only in `readEvents`, even if no picture comes.
    var isOutdated: Bool { get }
    /// Whether the display reports changes; if not, every picture is compared with the previous one.
    var reportsDamage: Bool { get }
    /// Whether everything that is reported as changed is visible in the pictures. It need not be if only a part of the
    /// screen is captured, or if something on it is hidden.
    var showsAllChanges: Bool { get }
    /// Whether `fetchDamage` may find something; always true if the display doesn't report changes (see `pollDue`).
    var mayHaveChanged: Bool { get }
    /// When the display painted the first of the changes that `fetchDamage` would return, if it sends whole pictures
    /// and says when; these changes need no time to settle. Otherwise nil.
    var paintedAt: MonotonicTime? { get }
    /// Whether the next `fetchDamage` returns the whole area, for example after the display refused pixels.
    var needsFullGrab: Bool { get }
    /// The time at which to call `fetchDamage` if the display doesn't report changes: `period` after the last look, or
    /// later while nothing changes. `.distantFuture` if it does report changes.
    func pollDue(period: Interval) -> MonotonicTime
    /// Returns the area that has changed since the last call and must be grabbed again: drawn parts, and the pointer's
    /// old and new places. The area is empty if the display refused the request, and while there is nothing to take
    /// pictures of. Throws `CaptureError.screen`.
    func fetchDamage() throws(CaptureError) -> DamagedArea
    /// Returns the whole area, or an empty one while there is nothing to take pictures of. Earlier drawing no longer
    /// counts as a change. Throws `CaptureError.screen`.
    func fullDamage() throws(CaptureError) -> DamagedArea
    /// Hands out the pixels of `area` in pieces: one rectangle after the other, each from top to bottom, in whole rows
    /// that begin at even coordinates. If the pointer is drawn, it is where `fetchDamage` saw it. Unless
    /// `hasPendingDamage` is set, all pixels are of the same time, so that no picture is torn.
    ///
    /// Returns false if the display refused: some pieces may be missing, and `needsFullGrab` is set. It throws
    /// `CaptureError.screen` only if the display keeps refusing or is gone.
    func grab(_ area: DamagedArea, _ body: (GrabbedPixels) -> Void) throws(CaptureError) -> Bool
    /// Whether something was painted after the last `fetchDamage`, and before the last `grab` had all pixels. So that
    /// the picture isn't torn, its changes are to be taken as well, and everything is to be grabbed again.
    var hasPendingDamage: Bool { get }

    /// Whether the pointer is drawn into the pictures. Setting another value counts as a change of the area where the
    /// pointer was or is drawn.
    var drawsPointer: Bool { get set }
    /// The time at which `lookAtPointer` is to be called again.
    var nextPointerLook: MonotonicTime { get }
    /// Returns where the pointer is, or nil if nothing has changed since the last call. If the pointer is drawn into
    /// the pictures, `mayHaveChanged` tells afterwards whether a picture is due. Throws `CaptureError.screen`.
    func lookAtPointer(now: MonotonicTime) throws(CaptureError) -> PointerPosition?
    /// Returns the pointer's shape at the scale of pictures of size `pictures`; nil if it hasn't changed since the last
    /// call or isn't known. After a change of the pictures' size, `forgetToldPointer` is called to get it again. Throws
    /// `CaptureError.screen`.
    func takePointerShape(in pictures: PictureSize) throws(CaptureError) -> CursorImage?
    /// Makes the next `lookAtPointer` and `takePointerShape` return the current values even if they were returned
    /// before, for a new consumer that knows nothing yet.
    func forgetToldPointer()

    /// Shows on the screen where a viewer points and what it has drawn, though not in the pictures; nil removes all
    /// that is shown. Pictures have the size `pictures`, and the screen is at `content` in them. `nextCheck` says when
    /// `readEvents` has to be called for that. A display that can't do this does nothing.
    func showPoint(_ point: ViewerPoint?, in pictures: PictureSize, content: PixelRectangle)
}

/// What a display that sends whole pictures doesn't have: another descriptor for the pointer, times at which to look
/// for changes, events that come with replies, and changes between two requests.
extension ScreenSource {
    public var pointerDescriptor: Int32 { -1 }
    public var nextCheck: MonotonicTime { .distantFuture }
    public func pollQueuedEvents() -> Bool { false }
    public func pollDue(period: Interval) -> MonotonicTime { .distantFuture }
    public var hasPendingDamage: Bool { false }
    public func showPoint(_ point: ViewerPoint?, in pictures: PictureSize, content: PixelRectangle) {
        // No other display has an overlay.
    }
}

/// What a display that is requested for its pixels doesn't have: the time of a whole picture, and pictures that it
/// sends although they aren't needed.
extension ScreenSource {
    public var paintedAt: MonotonicTime? { nil }
    public var isOutdated: Bool { false }
    public func setNeeded(_ isNeeded: Bool) {
        // Nothing is requested then.
    }
}

/// The reason why a screen can't be captured, or can't be captured any longer; `description` is for the user.
public protocol ScreenError: Error, CustomStringConvertible {
    /// What a program should do about it; `missing` means that the window doesn't exist, or no longer does.
    var kind: SocketError.Kind { get }
    /// The reason that is reported to the host.
    var endReason: EndReason { get }
}

/// Pixels of a rectangle of the captured area, row by row; valid only during the call that hands them out. Only the
/// source that hands them out may draw into them: they may be in memory that can only be read.
public struct GrabbedPixels {
    /// The rectangle that the pixels show.
    public let rectangle: PixelRectangle
    /// The address of the top left pixel.
    public let base: UnsafeMutableRawPointer
    /// The number of bytes from one row to the next.
    public let stride: Int

    /// Creates pixels that lie at `base`.
    public init(rectangle: PixelRectangle, base: UnsafeMutableRawPointer, stride: Int) {
        self.rectangle = rectangle
        self.base = base
        self.stride = stride
    }
}
