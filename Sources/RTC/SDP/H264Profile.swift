/// The three bytes of `profile-level-id` (RFC 6184 section 8.1): profile_idc, constraint flags, level_idc.
public struct ProfileLevelID: Sendable, Hashable, CustomStringConvertible {
    public var profileIDC: UInt8
    /// constraint_set0_flag in the top bit.
    public var constraints: UInt8
    /// Ten times the level.
    public var levelIDC: UInt8

    public init(profileIDC: UInt8, constraints: UInt8, levelIDC: UInt8) {
        self.profileIDC = profileIDC
        self.constraints = constraints
        self.levelIDC = levelIDC
    }

    /// Reads six hexadecimal digits.
    public init?(parsing text: some StringProtocol) {
        guard text.utf8.count == 6, text.utf8.first != UInt8(ascii: "+"), let number = UInt32(text, radix: 16) else {
            return nil
        }
        profileIDC = UInt8(truncatingIfNeeded: number >> 16)
        constraints = UInt8(truncatingIfNeeded: number >> 8)
        levelIDC = UInt8(truncatingIfNeeded: number)
    }

    /// Constrained Baseline at level 3.1, which every WebRTC peer with H.264 lists (RFC 7742 section 6.2).
    public static let constrainedBaseline = ProfileLevelID(profileIDC: 0x42, constraints: 0xe0, levelIDC: 0x1f)
    /// What is meant where a peer says nothing: Baseline at level 1 (RFC 6184 section 8.1).
    static let unspecified = ProfileLevelID(profileIDC: 0x42, constraints: 0, levelIDC: 0x0a)

    /// Six hexadecimal digits.
    public var description: String {
        [profileIDC, constraints, levelIDC].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The profile that the first two bytes stand for.
    public var profile: H264Profile { H264Profile(profileIDC: profileIDC, constraints: constraints) }
}

/// A profile of H.264 with its constraints (RFC 6184 table 5, ITU-T H.264 A.2).
public enum H264Profile: Sendable, Hashable {
    case constrainedBaseline
    case baseline
    case main
    case extended
    case constrainedHigh
    case high
    case other

    init(profileIDC: UInt8, constraints: UInt8) {
        let (set0, set1) = (constraints & 0x80 != 0, constraints & 0x40 != 0)
        switch (profileIDC, constraints & 0x0f) {
        case (0x42, 0): self = set1 ? .constrainedBaseline : .baseline
        case (0x4d, 0): self = set0 ? .constrainedBaseline : .main
        case (0x58, 0): self = set0 ? (set1 ? .constrainedBaseline : .baseline) : .extended
        case (0x64, 0x0c): self = .constrainedHigh
        case (0x64, 0): self = .high
        default: self = .other
        }
    }

    /// Whether who decodes this profile decodes all of `stream` too.
    func decodes(_ stream: H264Profile) -> Bool {
        switch stream {
        case self: true
        case .constrainedBaseline: self != .other
        case .baseline: self == .extended
        case .main, .constrainedHigh: self == .high
        default: false
        }
    }
}
