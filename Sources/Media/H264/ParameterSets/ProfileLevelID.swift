import MediaTypes

/// profile_idc, constraint flags and level_idc: the three bytes after an SPS's NAL unit header, and the
/// `profile-level-id` of RFC 6184 section 8.1.
public struct ProfileLevelID: Hashable, Sendable, CustomStringConvertible {
    /// 66 Baseline, 77 Main, 88 Extended, 100 High, 244 High 4:4:4 Predictive.
    public var profileIDC: UInt8
    /// constraint_set0_flag in bit 7 to constraint_set5_flag in bit 2.
    public var constraintFlags: UInt8
    /// Ten times the level's number; 9 and, with constraint_set3_flag, 11 are level 1b.
    public var levelIDC: UInt8

    /// Creates an id from its three bytes.
    public init(profileIDC: UInt8, constraintFlags: UInt8, levelIDC: UInt8) {
        self.profileIDC = profileIDC
        self.constraintFlags = constraintFlags
        self.levelIDC = levelIDC
    }

    /// Parses six hexadecimal digits; nil if `hexText` is anything else.
    public init?(hexText: some StringProtocol) {
        guard hexText.utf8.count == 6, hexText.allSatisfy(\.isHexDigit), let value = UInt32(hexText, radix: 16) else {
            return nil
        }
        self.init(
            profileIDC: UInt8(truncatingIfNeeded: value >> 16), constraintFlags: UInt8(truncatingIfNeeded: value >> 8),
            levelIDC: UInt8(truncatingIfNeeded: value))
    }

    /// Constrained Baseline at level 3.1, which every WebRTC peer with H.264 lists (RFC 7742 section 6.2).
    public static let constrainedBaseline = ProfileLevelID(profileIDC: 0x42, constraintFlags: 0xe0, levelIDC: 0x1f)

    /// High 4:4:4 Predictive at level 3.1, as Chromium lists it.
    public static let high444Predictive = ProfileLevelID(profileIDC: 0xf4, constraintFlags: 0, levelIDC: 0x1f)

    /// The id that applies if a peer doesn't give one: Baseline at level 1 (RFC 6184 section 8.1).
    public static let unspecified = ProfileLevelID(profileIDC: 0x42, constraintFlags: 0, levelIDC: 0x0a)

    /// Six hexadecimal digits, as in SDP: `42c01f`.
    public var hexText: String { [profileIDC, constraintFlags, levelIDC].hexadecimal() }

    public var description: String { hexText }

    /// The profile that the first two bytes name (RFC 6184 table 5); nil if the table doesn't list it.
    public var profile: Profile? {
        Profile.patterns.first { $0.matches(profileIDC, constraintFlags) }?.profile
    }

    /// Whether the level is 1b.
    public var isLevel1b: Bool {
        levelIDC == 9 || (levelIDC == 11 && [66, 77, 88].contains(profileIDC) && constraintFlags & 0x10 != 0)
    }

    /// A number that grows with the level: 1b ranks between 1 (level_idc 10) and 1.1 (level_idc 11).
    private var levelRank: Int { isLevel1b ? 21 : Int(levelIDC) * 2 }

    /// Whether a decoder with this id can decode a stream with the id `stream`: its profile must include the stream's,
    /// and the stream's level must not be higher.
    public func decodes(_ stream: ProfileLevelID) -> Bool {
        decodesProfile(of: stream) && stream.levelRank <= levelRank
    }

    /// Whether a decoder with this id can decode the profile of `stream`, regardless of its level.
    public func decodesProfile(of stream: ProfileLevelID) -> Bool {
        guard let own = profile, let other = stream.profile else { return profileIDC == stream.profileIDC }
        return own.includes(other)
    }

    /// Whether both name the same profile, so that one payload type may carry either (RFC 6184 section 8.2.2).
    public func isSameProfile(as other: ProfileLevelID) -> Bool {
        guard let own = profile, let others = other.profile else {
            return profileIDC == other.profileIDC && constraintFlags == other.constraintFlags
        }
        return own == others
    }
}

/// The profiles of H.264 that real-time senders use (ITU-T H.264 Annex A).
public enum Profile: Hashable, Sendable, CaseIterable {
    case constrainedBaseline
    case baseline
    case main
    case extended
    case constrainedHigh
    case high
    /// The only profile here that allows 4:4:4; a stream need not use it.
    case high444Predictive

    /// Whether a decoder of this profile can decode streams of `other`.
    public func includes(_ other: Profile) -> Bool {
        switch self {
        case .constrainedBaseline: other == .constrainedBaseline
        case .baseline: other == .baseline || other == .constrainedBaseline
        case .main: other == .main || other == .constrainedBaseline
        case .extended: other == .extended || other == .baseline || other == .constrainedBaseline
        case .constrainedHigh: other == .constrainedHigh || other == .constrainedBaseline
        case .high: other == .high || other == .constrainedHigh || other == .main || other == .constrainedBaseline
        case .high444Predictive: other == self || Profile.high.includes(other)
        }
    }

    fileprivate struct Pattern: Sendable {
        let idc: UInt8
        let mask: UInt8
        let flags: UInt8
        let profile: Profile

        func matches(_ idc: UInt8, _ flags: UInt8) -> Bool { idc == self.idc && flags & mask == self.flags }
    }

    /// RFC 6184 table 5, with the narrower profile first. constraint_set4 and 5 select Constrained High (section
    /// A.2.4.2).
    fileprivate static let patterns: [Pattern] = [
        Pattern(idc: 66, mask: 0x40, flags: 0x40, profile: .constrainedBaseline),
        Pattern(idc: 77, mask: 0x80, flags: 0x80, profile: .constrainedBaseline),
        Pattern(idc: 88, mask: 0xC0, flags: 0xC0, profile: .constrainedBaseline),
        Pattern(idc: 66, mask: 0x40, flags: 0x00, profile: .baseline),
        Pattern(idc: 88, mask: 0xC0, flags: 0x80, profile: .baseline),
        Pattern(idc: 77, mask: 0x80, flags: 0x00, profile: .main),
        Pattern(idc: 88, mask: 0x80, flags: 0x00, profile: .extended),
        Pattern(idc: 100, mask: 0x0C, flags: 0x0C, profile: .constrainedHigh),
        Pattern(idc: 100, mask: 0x00, flags: 0x00, profile: .high),
        // With constraint_set3 set, this is the Intra profile.
        Pattern(idc: 244, mask: 0x10, flags: 0x00, profile: .high444Predictive),
    ]
}
