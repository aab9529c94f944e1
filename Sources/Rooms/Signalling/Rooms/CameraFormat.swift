/// The size and the frame rate that pages ask of a camera. The browser chooses the nearest ones that the camera has.
public struct CameraFormat: Sendable, Equatable, Encodable, CustomStringConvertible {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// Frames per second.
    public let frameRate: Int

    /// The values that ``width`` and ``height`` may have.
    public static let sides = 16...4096
    /// The values that ``frameRate`` may have.
    public static let frameRates = 1...60

    /// 1280x720 at 30 fps.
    public init() {
        width = 1280
        height = 720
        frameRate = 30
    }

    /// A format with these values; nil if one isn't in ``sides`` or ``frameRates``.
    public init?(width: Int, height: Int, frameRate: Int) {
        guard Self.sides.contains(width), Self.sides.contains(height), Self.frameRates.contains(frameRate) else {
            return nil
        }
        self.width = width
        self.height = height
        self.frameRate = frameRate
    }

    /// Parses `WIDTHxHEIGHT@FPS`, such as `1280x720@30`. Returns nil for anything else, and for values out of range.
    public init?(_ text: String) {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let sides = parts[0].split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2, let width = Self.number(sides[0]), let height = Self.number(sides[1]),
            let frameRate = Self.number(parts[1])
        else { return nil }
        self.init(width: width, height: height, frameRate: frameRate)
    }

    /// `1280x720@30`
    public var description: String { "\(width)x\(height)@\(frameRate)" }

    /// Digits only: no sign.
    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }
}
