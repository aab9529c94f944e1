import MediaTypes

/// An H.264 profile, with a level, or with the lowest level that the pictures fit in (ITU-T H.264 annex A). A level is
/// for users of services that state one, because a stream beyond it is refused there only after it has begun.
public enum ProfileLevel: String, CaseIterable, Hashable, Sendable {
    case baseline, main, high
    case baseline30 = "baseline3.0"
    case baseline31 = "baseline3.1"
    case baseline41 = "baseline4.1"
    case main30 = "main3.0"
    case main31 = "main3.1"
    case main32 = "main3.2"
    case main41 = "main4.1"
    case high40 = "high4.0"
    case high41 = "high4.1"

    /// A profile by itself.
    public enum Profile: String, Sendable {
        case baseline, main, high
    }

    /// The H.264 profile of the output.
    public var profile: Profile {
        switch self {
        case .baseline, .baseline30, .baseline31, .baseline41: .baseline
        case .main, .main30, .main31, .main32, .main41: .main
        case .high, .high40, .high41: .high
        }
    }

    /// Ten times the level; nil if it follows from the pictures.
    public var level: Int? {
        switch self {
        case .baseline, .main, .high: nil
        case .baseline30, .main30: 30
        case .baseline31, .main31: 31
        case .main32: 32
        case .high40: 40
        case .baseline41, .main41, .high41: 41
        }
    }

    /// What players of a level are expected to take, as push services state it; it is less than the standard's.
    struct Limits {
        var size: PictureSize
        var framesPerSecond: Int
        var bitRate: BitRate
    }

    /// Nil where the level follows from the pictures.
    var limits: Limits? {
        let values: (width: Int, height: Int, kilobits: Int)? =
            switch self {
            case .baseline, .main, .high: nil
            case .baseline30, .main30: (720, 480, 10_000)
            case .baseline31, .main31: (1280, 720, 14_000)
            case .main32: (1280, 1024, 20_000)
            case .baseline41, .main41: (1920, 1080, 50_000)
            case .high40: (1920, 1080, 25_000)
            case .high41: (1920, 1080, 62_500)
            }
        return values.map {
            Limits(
                size: PictureSize(width: $0.width, height: $0.height), framesPerSecond: 30,
                bitRate: BitRate(bitsPerSecond: $0.kilobits * 1000))
        }
    }
}
