/// What of a display is captured.
public enum CaptureTarget: Hashable, Sendable {
    /// The whole screen.
    case screen
    /// The monitor of this RandR name, as "DP-1".
    case monitor(String)
    /// One window, also while others cover it.
    case window(WindowSelector)
    /// A rectangle of the screen, in pixels from its top left corner.
    case region(PixelRectangle)
}

/// Which window is meant.
public enum WindowSelector: Hashable, Sendable, CustomStringConvertible {
    /// The window of this X identifier.
    case identifier(UInt32)
    /// The one window whose title or class has this text in it, in whatever case; a title that is equal goes first.
    case title(String)

    public var description: String {
        switch self {
        case .identifier(let number): "0x" + String(number, radix: 16)
        case .title(let text): text
        }
    }
}

/// How large pictures are, compared with what they show.
public enum PictureScale: Hashable, Sendable {
    /// So many hundredths of each side, 1...100.
    case percent(Int)
    /// The largest size of the same shape that fits into this one; never larger than what is captured.
    case within(PictureSize)

    /// The size of pictures of something of `size`; sides are at least 2.
    public func size(of size: PictureSize) -> PictureSize {
        let (numerator, denominator): (Int, Int)
        switch self {
        case .percent(let percent): (numerator, denominator) = (min(max(percent, 1), 100), 100)
        case .within(let limit):
            if limit.width >= size.width, limit.height >= size.height { return size }
            // The side that has to shrink more decides.
            let isWidthNarrower = limit.width * size.height <= limit.height * size.width
            (numerator, denominator) = isWidthNarrower ? (limit.width, size.width) : (limit.height, size.height)
        }
        func scaled(_ side: Int) -> Int {
            min(side, max(2, (side * numerator + denominator / 2) / max(1, denominator)))
        }
        return PictureSize(width: scaled(size.width), height: scaled(size.height))
    }
}

/// How many chroma samples a picture has (ITU-T H.264 table 6-1).
public enum ChromaFormat: UInt8, Hashable, Sendable, CaseIterable {
    /// 4:2:0: one pair of chroma samples for four of luma.
    case yuv420 = 0
    /// 4:4:4: one pair for each: red text on black stays readable.
    case yuv444 = 1
}

/// Which chroma formats a capture may send.
public enum ChromaPreference: String, Hashable, Sendable, CaseIterable {
    /// 4:2:0 alone.
    case yuv420 = "420"
    /// 4:4:4 alone; who can't decode it can't watch.
    case yuv444 = "444"
    /// 4:4:4 while all who watch can decode it, else 4:2:0.
    case yuv444Or420 = "444,420"
}
