import CLinux
import CaptureEngine
import CaptureLink
import Clocks
import ColorConversion
import Glibc
import LinkTransport
import MediaTypes
import Synchronization

/// What a test shows on a ``PaintedScreen``.
final class Paint: Sendable {
    let descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    private let state = Mutex<UInt8?>(0)
    private let need = Mutex(true)

    deinit { close(descriptor) }

    var shade: UInt8? { state.withLock { $0 } }

    /// Whether the capture needs pictures, as it has told the screen.
    var isNeeded: Bool {
        get { need.withLock { $0 } }
        set { need.withLock { $0 = newValue } }
    }

    /// Paints the whole screen in a shade of grey; nil takes the screen away.
    func show(_ shade: UInt8?) {
        state.withLock { $0 = shade }
        eventfd_write(descriptor, 1)
    }
}

/// A screen of no display system: grey, in one shade unless told otherwise.
final class PaintedScreen: ScreenSource {
    struct Gone: ScreenError {
        var description: String { "the paint is gone" }
        var kind: SocketError.Kind { .unavailable }
        var endReason: EndReason { .displayLost }
    }

    let description = "a painted screen"
    let target = CaptureTarget.screen
    let size: PictureSize
    let pixelFormat = ScreenToPlanes.PixelFormat.bgrx
    let isWaiting = false
    let isLocked = false
    /// False for a screen that has to be looked at again and again, and takes 50 ms for each look.
    let reportsDamage: Bool
    let showsAllChanges = true
    let needsFullGrab = false
    let nextPointerLook = MonotonicTime.distantFuture
    var drawsPointer = false
    private(set) var isOutdated = false
    private let paint: Paint
    private let changes: ((_ before: UInt8, _ after: UInt8) -> [PixelRectangle])?
    private let grey: (_ x: Int, _ y: Int, _ shade: UInt8) -> UInt8
    private let age: Interval?
    private let rests: Bool
    private var shown: UInt8?

    /// Creates a screen. `changes` says what another shade changes, which is all of it by default, and `grey` what a
    /// pixel is painted in. With an `age`, it says that each change was painted so long ago. One that `rests` is
    /// outdated once it is needed again, until the next shade.
    init(
        _ paint: Paint, size: PictureSize = PictureSize(width: 64, height: 48), reportsDamage: Bool = true,
        changes: ((_ before: UInt8, _ after: UInt8) -> [PixelRectangle])? = nil,
        grey: @escaping (_ x: Int, _ y: Int, _ shade: UInt8) -> UInt8 = { _, _, shade in shade },
        age: Interval? = nil, rests: Bool = false
    ) {
        self.paint = paint
        self.size = size
        self.reportsDamage = reportsDamage
        self.changes = changes
        self.grey = grey
        self.age = age
        self.rests = rests
    }

    func setNeeded(_ isNeeded: Bool) {
        paint.isNeeded = isNeeded
        isOutdated = isNeeded && rests
    }

    var fileDescriptor: Int32 { paint.descriptor }
    var mayHaveChanged: Bool { !reportsDamage || paint.shade != shown }
    var paintedAt: MonotonicTime? { paint.shade == shown ? nil : age.map { MonotonicTime.now() - $0 } }

    func pollDue(period: Interval) -> MonotonicTime { reportsDamage ? .distantFuture : .zero }
    func lookAtPointer(now: MonotonicTime) -> PointerPosition? { nil }
    func takePointerShape(in pictures: PictureSize) -> CursorImage? { nil }
    func forgetToldPointer() {}

    func readEvents(isReadable: Bool, isPointerReadable: Bool) throws(CaptureError) -> Bool {
        var count: UInt64 = 0
        if isReadable, eventfd_read(paint.descriptor, &count) == 0 { isOutdated = false }
        if paint.shade == nil { throw .screen(Gone()) }
        return false
    }

    func fetchDamage() -> DamagedArea {
        if !reportsDamage { poll(nil, 0, 50) }
        guard mayHaveChanged else { return DamagedArea() }
        guard let changes, let before = shown, let after = paint.shade else { return fullDamage() }
        shown = after
        return DamagedArea(changes(before, after), in: size)
    }

    func fullDamage() -> DamagedArea {
        shown = paint.shade
        return DamagedArea([PixelRectangle(x: 0, y: 0, width: size.width, height: size.height)], in: size)
    }

    func grab(_ area: DamagedArea, _ body: (GrabbedPixels) -> Void) -> Bool {
        for rectangle in area.rectangles {
            let stride = rectangle.width * 4
            // A store for each pixel: more is too slow for a video under ThreadSanitizer.
            var pixels = [UInt32](repeating: 0, count: rectangle.width * rectangle.height)
            var next = 0
            for y in rectangle.y..<rectangle.y + rectangle.height {
                for x in rectangle.x..<rectangle.x + rectangle.width {
                    pixels[next] = UInt32(grey(x, y, shown ?? 0)) * 0x0101_0101
                    next += 1
                }
            }
            pixels.withUnsafeMutableBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                body(GrabbedPixels(rectangle: rectangle, base: base, stride: stride))
            }
        }
        return true
    }
}
