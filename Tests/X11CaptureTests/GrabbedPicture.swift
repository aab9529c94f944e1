import CaptureEngine
import ColorConversion
import MediaTypes
import TestScene
import X11Capture

/// Pixels of a screen put together from what a capture hands out, as RGB.
struct GrabbedPicture {
    private(set) var bytes: [UInt8]
    private let size: PictureSize

    /// The whole screen of `capture`.
    init(_ capture: ScreenCapture) throws {
        size = capture.size
        bytes = [UInt8](repeating: 0, count: size.width * size.height * 3)
        try update(capture, capture.fullDamage())
    }

    /// Takes `area` anew.
    mutating func update(_ capture: ScreenCapture, _ area: DamagedArea) throws {
        let format = capture.pixelFormat
        let width = size.width
        var copy = bytes
        let isComplete = try capture.grab(area) { pixels in
            for row in 0..<pixels.rectangle.height {
                var target = ((pixels.rectangle.y + row) * width + pixels.rectangle.x) * 3
                for column in 0..<pixels.rectangle.width {
                    let offset = row * pixels.stride + column * format.bytesPerPixel
                    let color = Self.color(pixels.base + offset, format)
                    copy[target] = color.red
                    copy[target + 1] = color.green
                    copy[target + 2] = color.blue
                    target += 3
                }
            }
        }
        guard isComplete else { return }
        bytes = copy
    }

    /// The colour of one pixel.
    func color(_ x: Int, _ y: Int) -> SceneColor {
        let index = (y * size.width + x) * 3
        return SceneColor(bytes[index], bytes[index + 1], bytes[index + 2])
    }

    private static func color(_ pixel: UnsafeMutableRawPointer, _ format: ScreenToPlanes.PixelFormat) -> SceneColor {
        switch format {
        case .bgrx:
            let bytes = pixel.assumingMemoryBound(to: UInt8.self)
            return SceneColor(bytes[2], bytes[1], bytes[0])
        case .rgb565:
            let value = pixel.loadUnaligned(as: UInt16.self)
            let (red, green, blue) = (value >> 11, value >> 5 & 63, value & 31)
            return SceneColor(UInt8(red * 255 / 31), UInt8(green * 255 / 63), UInt8(blue * 255 / 31))
        }
    }
}
