public import MediaTypes

extension ValueFormat where Value == WindowSelector {
    /// A window: `0x1c00003`, or a part of its title or class.
    public static var window: ValueFormat<WindowSelector> {
        ValueFormat(
            orProblem:
                "not a window; write an identifier such as 0x1c00003, or part of the window's title; --list names them"
        ) { text in
            if text.hasPrefix("0x") || text.hasPrefix("0X") {
                // A text that starts like a number is meant as one, so a typing error must not become a title to search
                // for.
                let digits = text.dropFirst(2)
                guard (1...8).contains(digits.utf8.count), digits.allSatisfy({ $0.isASCII && $0.isHexDigit }),
                    let number = UInt32(digits, radix: 16), number > 0
                else { return nil }
                return .identifier(number)
            }
            return text.allSatisfy(\.isWhitespace) ? nil : .title(text)
        }
    }
}

extension ValueFormat where Value == PixelRectangle {
    /// A part of the screen: `1280x720+0+40`.
    public static var region: ValueFormat<PixelRectangle> {
        ValueFormat { (text) throws(ValueError) in
            let parts = text.split(separator: "+", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3, let (width, height) = sides(parts[0]), let x = decimalInteger(parts[1]),
                let y = decimalInteger(parts[2])
            else {
                throw ValueError("not a region; write it like 1280x720+0+40 (width, height, left, top)")
            }
            guard sideRange.contains(width), sideRange.contains(height), x <= maxSide, y <= maxSide else {
                throw ValueError("region out of range; sides may be from 2 to \(maxSide)")
            }
            return PixelRectangle(x: x, y: y, width: width, height: height)
        }
    }
}

extension ValueFormat where Value == PictureScale {
    /// The size of pictures: `1920x1080` or `50%`.
    public static var scale: ValueFormat<PictureScale> {
        ValueFormat { (text) throws(ValueError) in
            if text.hasSuffix("%") {
                guard let percent = decimalInteger(String(text.dropLast())), (1...100).contains(percent) else {
                    throw ValueError("not a scale; write a share from 1% to 100%, or a size such as 1920x1080")
                }
                return .percent(percent)
            }
            return .within(try size(text, else: "not a scale; write a size such as 1920x1080, or a share such as 50%"))
        }
    }

    /// The exact size of pictures: `1280x720`.
    public static var exactSize: ValueFormat<PictureScale> {
        ValueFormat { (text) throws(ValueError) in
            .exactly(try size(text, else: "not a size; write it like 1280x720"))
        }
    }
}

extension ValueFormat where Value == KeyFrameInterval {
    /// How often key frames are sent: `10s`, `500ms` or `2m`, or a number of frames.
    public static var keyFrames: ValueFormat<KeyFrameInterval> {
        ValueFormat { (text) throws(ValueError) in
            if let count = decimalInteger(text) {
                guard (2...100_000).contains(count) else {
                    throw ValueError("number of frames out of range; it may be from 2 to 100000")
                }
                return .frames(count)
            }
            // A number with a fraction could mean either.
            guard text.last?.isNumber == false,
                let time = try? ValueFormat<Interval>.duration.read(text, option: "")
            else {
                throw ValueError("not an interval; write a time like 10s or 2m, or a number of frames like 300")
            }
            guard time >= .milliseconds(500), time <= .seconds(3600) else {
                throw ValueError("time out of range; it may be from 500ms to 1h")
            }
            return .time(time)
        }
    }
}

extension ValueFormat where Value == ChromaPreference {
    /// `420`, `444` or `444,420`.
    public static var chroma: ValueFormat<ChromaPreference> {
        ValueFormat(orProblem: "not a chroma format; write 420, 444, or both as 444,420") {
            ChromaPreference(rawValue: $0)
        }
    }
}

/// The longest side of a picture, well within what H.264 and the link can carry.
private let maxSide = 16384
private let sideRange = 2...maxSide

/// A size within limits, or the problem `otherwise` if the text is none.
private func size(_ text: String, else otherwise: String) throws(ValueError) -> PictureSize {
    guard let (width, height) = sides(text) else { throw ValueError(otherwise) }
    guard sideRange.contains(width), sideRange.contains(height) else {
        throw ValueError("size out of range; sides may be from 2 to \(maxSide)")
    }
    return PictureSize(width: width, height: height)
}

/// `1920x1080`
private func sides(_ text: String) -> (width: Int, height: Int)? {
    let parts = text.split(separator: "x", omittingEmptySubsequences: false)
    guard parts.count == 2, let width = decimalInteger(String(parts[0])), let height = decimalInteger(String(parts[1]))
    else { return nil }
    return (width, height)
}
