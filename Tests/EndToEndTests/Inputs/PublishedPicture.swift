import TestScene

/// What `whip_publisher.py` draws: four bars of red, green, blue and white, and a field that grows brighter.
struct PublishedPicture {
    /// Red, green and blue of the middle of each of the five fields.
    private let fields: [[Int]]

    init(_ picture: ScenePicture) {
        fields = (0..<5).map { index in
            let x = picture.width * (2 * index + 1) / 10
            let start = picture.height / 2 * picture.rowBytes + x * picture.bytesPerPixel
            return picture.bytes[start..<start + 3].map { Int($0) }
        }
    }

    /// Whether the bars have the colours that they were drawn in.
    var hasBars: Bool {
        func isBright(_ value: Int) -> Bool { value > 190 }
        func isDark(_ value: Int) -> Bool { value < 70 }
        let bars = [[true, false, false], [false, true, false], [false, false, true], [true, true, true]]
        return zip(fields, bars).allSatisfy { field, bar in
            zip(field, bar).allSatisfy { $0.1 ? isBright($0.0) : isDark($0.0) }
        }
    }

    /// Which of its 16 brightness steps the field is at.
    var step: Int { (fields[4][1] + 8) / 16 }
}

extension ViewerPage {
    /// What a publisher's picture shows now; nil before there is one.
    func published() throws -> PublishedPicture? { try picture(columns: 640).map { PublishedPicture($0) } }
}
