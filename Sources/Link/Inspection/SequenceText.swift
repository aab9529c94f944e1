import ByteCoding
public import H264

extension SequenceParameterSet {
    /// The profile, level and size, such as `Constrained Baseline, level 3.1, 1280x720`.
    public var shortText: String { "\(profileLevelID.profileText), level \(profileLevelID.levelText), \(size)" }

    /// A full description for people, as a list of clauses.
    public var clauses: [String] {
        var clauses = ["\(profileLevelID.profileText) profile, level \(profileLevelID.levelText)"]
        clauses.append(size == codedSize ? "\(size)" : "\(size) (coded as \(codedSize))")
        let formats = ["monochrome", "4:2:0", "4:2:2", "4:4:4"]
        let chroma = formats.indices.contains(chromaFormatIDC) ? formats[chromaFormatIDC] : "?"
        clauses.append("\(chroma), \(lumaBitDepth) bits")
        clauses.append(isFrameOnly ? "frames" : "frames and fields")
        clauses.append("\(maxReferenceFrames) reference \(maxReferenceFrames == 1 ? "frame" : "frames")")
        clauses.append("order count type \(pictureOrderCountType)")
        guard let usability else { return clauses + ["no VUI"] }
        return clauses + usability.clauses
    }
}

extension VideoUsability {
    fileprivate var clauses: [String] {
        var clauses: [String] = []
        if let isFullRange { clauses.append(isFullRange ? "full range" : "limited range") }
        if let colour {
            clauses.append(
                "colours \(colour.primaries)/\(colour.transferCharacteristics)/\(colour.matrixCoefficients)"
                    + (colour.name.map { " (\($0))" } ?? ""))
        }
        if let timing {
            let rate = timing.pictureRateText.map { "\($0) fps" }
            clauses.append((rate ?? "no valid rate") + (timing.isFixedFrameRate ? ", fixed" : " at most"))
        }
        if let maxReorderedPictures { clauses.append("\(maxReorderedPictures) reordered") }
        if let maxBufferedPictures { clauses.append("\(maxBufferedPictures) buffered") }
        return clauses.isEmpty ? ["an empty VUI"] : clauses
    }
}

extension VideoUsability.ColourDescription {
    /// The usual name, if all three codes match (ITU-T H.264 tables E-3 to E-5).
    fileprivate var name: String? {
        switch (primaries, transferCharacteristics, matrixCoefficients) {
        case (1, 1, 1): "BT.709"
        case (1, 13, 0): "sRGB"
        case (1, 13, 1), (1, 13, 6): "sRGB as YCbCr"
        case (5, 6, 5), (5, 5, 5): "BT.601, 625 lines"
        case (6, 6, 6): "BT.601, 525 lines"
        default: nil
        }
    }
}

extension VideoUsability.Timing {
    /// The frame rate with three decimal places; a frame lasts two ticks.
    fileprivate var pictureRateText: String? {
        guard unitsInTick > 0 else { return nil }
        return DecimalText.fixed(Double(timeScale) / (2 * Double(unitsInTick)), digits: 3, trimmed: true)
    }
}

extension ProfileLevelID {
    /// The profile's name (ITU-T H.264 Annex A).
    public var profileText: String {
        switch profile {
        case .constrainedBaseline: return "Constrained Baseline"
        case .baseline: return "Baseline"
        case .main: return "Main"
        case .extended: return "Extended"
        case .constrainedHigh: return "Constrained High"
        case .high: return "High"
        case .high444Predictive: return "High 4:4:4 Predictive"
        case nil: break
        }
        switch profileIDC {
        case 110: return constraintFlags & 0x10 != 0 ? "High 10 Intra" : "High 10"
        case 122: return constraintFlags & 0x10 != 0 ? "High 4:2:2 Intra" : "High 4:2:2"
        case 244: return "High 4:4:4 Intra"
        case 44: return "CAVLC 4:4:4 Intra"
        default: return "unknown (\(profileIDC))"
        }
    }

    /// The level as the specification writes it, such as `3.1` or `1b`.
    public var levelText: String {
        isLevel1b ? "1b" : "\(levelIDC / 10).\(levelIDC % 10)"
    }
}
