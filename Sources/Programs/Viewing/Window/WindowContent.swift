import ColorConversion
import MediaTypes

/// What a window shows: the newest picture, fitted into the window or in its own size.
struct WindowContent {
    private enum Mode { case fit, actual }

    private var mode = Mode.fit
    /// The newest picture.
    var picture: I420Picture?

    /// Fits the pictures into the window.
    mutating func fit() { mode = .fit }

    /// Shows the pictures in their own size, or fits them again if they are.
    mutating func toggleActualSize() { mode = mode == .actual ? .fit : .actual }

    /// The picture to show in the middle of a window of `size`, which it may exceed. Nil if there is none yet, or if
    /// the window is too small for one.
    func shown(in size: PictureSize) -> I420Picture? {
        guard let picture, size.width >= 2, size.height >= 2 else { return nil }
        guard mode == .fit, picture.size != size else { return picture }
        let even = PictureSize(width: size.width & ~1, height: size.height & ~1)
        return PictureScaling.scale(picture, to: even, crops: false)
    }
}
