public import MediaTypes

extension AccessUnit {
    /// The profile and level in the access unit's first SPS, the three bytes after its NAL unit header (ITU-T H.264
    /// section 7.3.2.1.1). Nil if there is no SPS or if it is too short.
    public var profileLevelID: ProfileLevelID? {
        for range in nalUnits where bytes.indices.contains(range.lowerBound) && range.upperBound <= bytes.count {
            let nalUnit = bytes[range]
            guard let first = nalUnit.first, NALUnitHeader(first)?.type == .sequenceParameterSet else { continue }
            let start = nalUnit.startIndex
            guard nalUnit.count >= 4 else { return nil }
            return ProfileLevelID(
                profileIDC: nalUnit[start + 1], constraintFlags: nalUnit[start + 2], levelIDC: nalUnit[start + 3])
        }
        return nil
    }
}
