/// A moving picture that depends only on its size and the tick, so that a test knows what to expect.
public protocol Scene: Sendable {
    /// The width of the whole picture in pixels.
    var width: Int { get }
    /// The height of the whole picture in pixels.
    var height: Int { get }

    /// Paints the picture of `tick` (0 or more) over that of tick `previous`, or the whole picture if `previous` is
    /// nil.
    ///
    /// - Returns: Rectangles outside of which nothing has changed.
    func paint<Painter: ScenePainter>(tick: Int, after previous: Int?, with painter: inout Painter) -> [SceneRectangle]

    /// The position of the pointer at a tick; nil if the scene leaves the pointer alone.
    func pointer(at tick: Int) -> (x: Int, y: Int)?
}

extension Scene {
    public func pointer(at tick: Int) -> (x: Int, y: Int)? { nil }
}

/// The available scenes.
public enum SceneKind: String, CaseIterable, Sendable {
    /// Patches of known colours and a counter that a program can read back: `PatchScene`.
    case patches
    /// A desktop in use, to look at: `DesktopScene`.
    case desktop
    /// Pages of text and a pointer, and nothing moves: `WorkScene`, like all that follow.
    case idle
    /// The pointer moves, and nothing else.
    case pointer
    /// Somebody types, ten letters a second.
    case typing
    /// A page of text that fills most of the screen scrolls.
    case scroll
    /// A window is dragged over a page of text.
    case drag
    /// A film of 640x360 plays over a page of text.
    case video
    /// A film fills the screen.
    case full
    /// The same page as in `scroll`, nine times as fast, so that little of a picture is found in the one before.
    case flick
    /// Red text on black, and nothing moves.
    case red

    /// Creates the scene for a screen of this size, with `ticksPerSecond` ticks a second.
    public func scene(width: Int, height: Int, ticksPerSecond: Int) -> any Scene {
        switch self {
        case .patches: PatchScene(width: width, height: height)
        case .desktop: DesktopScene(width: width, height: height, ticksPerSecond: ticksPerSecond)
        case .idle: WorkScene(.idle, width: width, height: height)
        case .pointer: WorkScene(.pointer, width: width, height: height)
        case .typing: WorkScene(.typing, width: width, height: height)
        case .scroll: WorkScene(.scroll, width: width, height: height)
        case .drag: WorkScene(.drag, width: width, height: height)
        case .video: WorkScene(.video, width: width, height: height)
        case .full: WorkScene(.full, width: width, height: height)
        case .flick: WorkScene(.flick, width: width, height: height)
        case .red: WorkScene(.red, width: width, height: height)
        }
    }
}

/// A painter of rectangles and sheets; it clips them to the picture.
public protocol ScenePainter {
    /// Fills `rectangle` with `color`.
    mutating func fill(_ rectangle: SceneRectangle, _ color: SceneColor)
    /// Draws `part` of a sheet with its top left corner at (`x`, `y`).
    mutating func draw(_ sheet: SceneSheet, _ part: SceneRectangle, x: Int, y: Int)
}

/// A rectangle of pixels; `x` and `y` count from the top left corner.
public struct SceneRectangle: Hashable, Sendable {
    /// The leftmost column.
    public var x: Int
    /// The topmost row.
    public var y: Int
    /// The number of columns.
    public var width: Int
    /// The number of rows.
    public var height: Int

    /// Creates the rectangle whose top left corner is (`x`, `y`).
    public init(_ x: Int, _ y: Int, _ width: Int, _ height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// The column right of the last one.
    public var right: Int { x + width }
    /// The row below the last one.
    public var bottom: Int { y + height }
    /// The middle.
    public var center: (x: Int, y: Int) { (x + width / 2, y + height / 2) }

    /// The rectangle without a border of this many pixels.
    public func inset(_ horizontal: Int, _ vertical: Int) -> SceneRectangle {
        SceneRectangle(x + horizontal, y + vertical, max(0, width - 2 * horizontal), max(0, height - 2 * vertical))
    }

    /// The common part of both rectangles; empty (width or height 0) if there is none.
    public func intersection(_ other: SceneRectangle) -> SceneRectangle {
        let left = max(x, other.x)
        let top = max(y, other.y)
        return SceneRectangle(
            left, top, max(0, min(right, other.right) - left), max(0, min(bottom, other.bottom) - top))
    }
}

/// A colour as red, green and blue parts, 0 to 255.
public struct SceneColor: Hashable, Sendable {
    /// The red part.
    public var red: UInt8
    /// The green part.
    public var green: UInt8
    /// The blue part.
    public var blue: UInt8

    /// Creates the colour with these parts.
    public init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// All parts at 255.
    public static let white = SceneColor(255, 255, 255)
    /// All parts at 0.
    public static let black = SceneColor(0, 0, 0)

    /// The mixture of this colour and `other`, of which `other` makes up `part` of `whole`.
    func mixed(with other: SceneColor, _ part: Int, of whole: Int) -> SceneColor {
        func mix(_ from: UInt8, _ to: UInt8) -> UInt8 {
            UInt8(clamping: Int(from) + (Int(to) - Int(from)) * part / max(1, whole))
        }
        return SceneColor(mix(red, other.red), mix(green, other.green), mix(blue, other.blue))
    }
}
