import CaptureEngine
import MediaTypes
import TestScene

/// A small screen and the plain colours that tests paint on it.
enum TestScreen {
    static let size = PictureSize(width: 400, height: 300)
    static let all = PixelRectangle(x: 0, y: 0, width: 400, height: 300)
    static let red = SceneColor(0xFF, 0, 0)
    static let green = SceneColor(0, 0xFF, 0)
    static let blue = SceneColor(0, 0, 0xFF)
    static let black = SceneColor(0, 0, 0)
}

/// Runs `body`, and throws the X server's own error where the capture throws it as the engine's.
func x11<Result>(_ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch CaptureError.screen(let failure) {
        throw failure
    }
}
