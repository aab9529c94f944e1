/// The part of a display that is captured.
public enum CaptureTarget: Hashable, Sendable {
    /// The whole screen.
    case screen
    /// The monitor with this RandR name, such as "DP-1".
    case monitor(String)
    /// One window, even while other windows cover it.
    case window(WindowSelector)
    /// A rectangle of the screen, in pixels from its top left corner.
    case region(PixelRectangle)
}

/// Selects a window.
public enum WindowSelector: Hashable, Sendable, CustomStringConvertible {
    /// The window with this X identifier.
    case identifier(UInt32)
    /// The one window whose title or class contains this text, ignoring case. A title that equals the text takes
    /// precedence.
    case title(String)

    public var description: String {
        switch self {
        case .identifier(let number): "0x" + String(number, radix: 16)
        case .title(let text): text
        }
    }
}

/// The size of the pictures in relation to the captured area.
public enum PictureScale: Hashable, Sendable {
    /// A percentage of each dimension, 1...100.
    case percent(Int)
    /// The largest size with the captured aspect ratio that fits into this one, never larger than the captured area.
    case within(PictureSize)
    /// This size, whatever is captured, which is made smaller or larger, with black bars for another aspect ratio.
    case exactly(PictureSize)

    /// The size of the pictures of a captured area of `size`. Width and height are at least 2.
    public func size(of size: PictureSize) -> PictureSize {
        let (numerator, denominator): (Int, Int)
        switch self {
        case .exactly(let exact): return exact
        case .percent(let percent): (numerator, denominator) = (min(max(percent, 1), 100), 100)
        case .within(let limit):
            if limit.width >= size.width, limit.height >= size.height { return size }
            // The dimension that has to shrink more decides.
            let isWidthNarrower = limit.width * size.height <= limit.height * size.width
            (numerator, denominator) = isWidthNarrower ? (limit.width, size.width) : (limit.height, size.height)
        }
        func scaled(_ side: Int) -> Int {
            min(side, max(2, (side * numerator + denominator / 2) / max(1, denominator)))
        }
        return PictureSize(width: scaled(size.width), height: scaled(size.height))
    }

    /// The part of the pictures, at an even place, that shows a captured area of `size`.
    public func content(of size: PictureSize) -> PixelRectangle {
        let pictures = self.size(of: size)
        var content = pictures.whole
        guard case .exactly = self, size.width > 0, size.height > 0 else { return content }
        func fitting(_ side: Int, _ numerator: Int, _ denominator: Int) -> Int {
            // An even number of pixels leaves whole samples of chroma to the bars.
            min(side, max(2, (numerator + denominator) / denominator & ~1))
        }
        if size.width * pictures.height > pictures.width * size.height {
            content.height = fitting(pictures.height, pictures.width * size.height, size.width)
            content.y = (pictures.height - content.height) / 2 & ~1
        } else if size.width * pictures.height < pictures.width * size.height {
            content.width = fitting(pictures.width, pictures.height * size.width, size.height)
            content.x = (pictures.width - content.width) / 2 & ~1
        }
        return content
    }
}

/// The chroma sampling of a picture (ITU-T H.264 table 6-1).
public enum ChromaFormat: UInt8, Hashable, Sendable, CaseIterable {
    /// 4:2:0: one pair of chroma samples for every four luma samples.
    case yuv420 = 0
    /// 4:4:4: one pair of chroma samples for every luma sample, which keeps red text on black readable.
    case yuv444 = 1
}

/// The chroma formats that a capture may send.
public enum ChromaPreference: String, Hashable, Sendable, CaseIterable {
    /// Only 4:2:0.
    case yuv420 = "420"
    /// Only 4:4:4; viewers that can't decode it can't watch.
    case yuv444 = "444"
    /// 4:4:4 while all viewers can decode it, otherwise 4:2:0.
    case yuv444Or420 = "444,420"
}
