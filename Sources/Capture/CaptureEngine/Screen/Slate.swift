import CaptureLink
import MediaTypes

/// The picture that viewers see instead of the screen while the sharer doesn't share: light words in the middle of
/// grey.
///
/// Only luma is drawn: with both chroma planes at 128 the picture is grey, in 4:2:0 and 4:4:4 alike.
enum Slate {
    /// The luma of the background and of the letters, in the limited range (ITU-T H.264 table E-3).
    static let ground: UInt8 = 52
    static let ink: UInt8 = 214

    /// A letter is about 1/30 of the picture's height, and the words take at most 9/10 of its width.
    private static let linesOfText = 30

    /// Draws `text` into the luma plane at `luma`: `size.height` rows of `size.width` samples, `stride` bytes
    /// from one row to the next. `stride` is at least the width. Any size will do; one that is too small stays grey.
    static func draw(_ text: String, luma: UnsafeMutablePointer<UInt8>, stride: Int, size: PictureSize) {
        let (width, height) = (size.width, size.height)
        guard width > 0, height > 0, stride >= width else { return }
        for row in 0..<height { (luma + row * stride).update(repeating: ground, count: width) }
        let columns = text.utf8.count * SlateLetters.advance - (SlateLetters.advance - SlateLetters.width)
        let wanted = max(1, (height + linesOfText * SlateLetters.height / 2) / (linesOfText * SlateLetters.height))
        let scale = min(wanted, width * 9 / 10 / columns, height / SlateLetters.height)
        guard scale >= 1 else { return }
        var x = (width - columns * scale) / 2
        let y = (height - SlateLetters.height * scale) / 2
        for character in text.utf8 {
            draw(SlateLetters.rows(of: character), at: luma + y * stride + x, stride: stride, scale: scale)
            x += SlateLetters.advance * scale
        }
    }

    /// The words on the slate while `target` is in the state `message`; short, because a small picture has little room.
    static func text(for message: SharingState, of target: CaptureTarget) -> String {
        switch message {
        case .live, .paused: "Sharing is paused"
        case .locked: "The screen is locked"
        case .windowHidden:
            switch target {
            // Only a desktop that asks the user itself what to share makes a monitor of this.
            case .screen, .monitor: "The monitor is off"
            case .region: "The region is gone"
            case .window: "The window is hidden"
            }
        }
    }

    /// Draws one letter. Each row has 5 bits, of which bit 4 is the leftmost pixel; the top row is in the lowest byte.
    private static func draw(_ rows: UInt64, at corner: UnsafeMutablePointer<UInt8>, stride: Int, scale: Int) {
        for row in 0..<SlateLetters.height {
            let bits = rows >> UInt64(row * 8)
            for column in 0..<SlateLetters.width where bits >> UInt64(SlateLetters.width - 1 - column) & 1 != 0 {
                for line in 0..<scale {
                    let start = corner + (row * scale + line) * stride + column * scale
                    start.update(repeating: ink, count: scale)
                }
            }
        }
    }
}
