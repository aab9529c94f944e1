/// A place in a picture, in fractions of its width and height, each from 0 to 1; in JSON `[x, y]`.
struct PicturePlace: Equatable, Codable {
    let x: Double
    let y: Double

    /// Creates a place, or nil for one outside the picture. It is rounded to a ten-thousandth of the picture, which is
    /// less than a pixel.
    init?(x: Double, y: Double) {
        guard (0...1).contains(x), (0...1).contains(y) else { return nil }
        self.x = (x * 10_000).rounded() / 10_000
        self.y = (y * 10_000).rounded() / 10_000
    }

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        let (x, y) = (try container.decode(Double.self), try container.decode(Double.self))
        guard container.isAtEnd, let place = PicturePlace(x: x, y: y) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a place in a picture")
        }
        self = place
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(x)
        try container.encode(y)
    }
}

/// What a viewer has drawn since its last message: the places of its pen in order, and nil where another line begins.
struct PenPath: Equatable, Decodable {
    /// The maximum number of steps in a message.
    static let longest = 16

    let steps: [PicturePlace?]

    /// Fails for a longer path without decoding its steps.
    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        guard let count = container.count, count <= Self.longest else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "too long a path")
        }
        var steps: [PicturePlace?] = []
        while !container.isAtEnd {
            let isBeginning = try container.decodeNil()
            steps.append(isBeginning ? nil : try container.decode(PicturePlace.self))
        }
        self.steps = steps
    }
}
