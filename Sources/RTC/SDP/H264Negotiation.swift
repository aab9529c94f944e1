import H264
import MediaTypes

/// The part of offers and answers that is about H.264 (RFC 6184 section 8.2.2).
struct H264Negotiation: CodecNegotiation {
    /// The profile of the 4:2:0 stream that we send, or that we prefer to receive because all viewers decode it.
    var profile = ProfileLevelID.constrainedBaseline

    var name: String { "H.264" }
    var encodingName: String { "H264" }
    var channelCount: Int? { nil }

    /// If the stream's level is above that of our profile, it comes first, in a form of its own: the level of an offer
    /// to send is the stream's (RFC 6184 section 8.2.2). The usual level follows, because some peers look for nothing
    /// else.
    func offered(beginningWith start: CodedFrame?) -> [CodecForm] {
        var forms = [(profile, ChromaFormat.yuv420), (.high444Predictive, .yuv444)]
        if let level = start?.h264Level, level > profile.levelIDC {
            var own = profile
            own.levelIDC = level
            forms.insert((own, .yuv420), at: 0)
        }
        return forms.map { profile, chroma in
            form(chroma, "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=\(profile)")
        }
    }

    private func form(_ chroma: ChromaFormat, _ parameters: String) -> CodecForm {
        (TrackFormat(codec: .h264, chroma: chroma), parameters)
    }

    /// Chooses the format for our profile, or for one whose decoders can decode ours, or else for any H.264; and the
    /// format for 4:4:4.
    func sent(to listed: [PayloadFormat]) throws(SDPError) -> [(PayloadFormat, CodecForm)] {
        let usable = listed.filter { $0.packetizationMode == "1" }
        let with444 = usable.first(where: \.is444)
        // A decoder of 4:4:4 also decodes the other profiles, but its payload type is used only for 4:4:4 as long as
        // there is another.
        guard
            let chosen = usable.first(where: { $0.profileLevelID.isSameProfile(as: profile) })
                ?? usable.first(where: { !$0.is444 && $0.profileLevelID.decodesProfile(of: profile) })
                ?? with444 ?? usable.first
        else { throw .noPacketizationMode1 }
        return [(chosen, ChromaFormat.yuv420), (with444, .yuv444)].compactMap { format, chroma in
            guard let format else { return nil }
            let level = format.parameters["level-asymmetry-allowed"] == "1" ? "level-asymmetry-allowed=1;" : ""
            return (format, form(chroma, level + "packetization-mode=1;profile-level-id=\(format.profileLevelID)"))
        }
    }

    /// Chooses packetization-mode 1 before 0, then our own profile, then other profiles, which viewers may be able to
    /// decode, and 4:4:4 last. Repeats the offered format parameters and adds none: GStreamer's encoder would have to
    /// obey the added ones.
    func received(from listed: [PayloadFormat]) throws(SDPError) -> (PayloadFormat, CodecForm) {
        for mode in ["1", "0"] {
            let usable = listed.filter { $0.packetizationMode == mode }
            let chosen =
                usable.first { $0.profileLevelID.isSameProfile(as: profile) } ?? usable.first { !$0.is444 }
                ?? usable.first
            guard let chosen else { continue }
            let parameters = ["level-asymmetry-allowed", "packetization-mode", "profile-level-id"].compactMap { name in
                chosen.parameters[name].map { "\(name)=\($0)" }
            }
            return (chosen, form(chosen.is444 ? .yuv444 : .yuv420, parameters.joined(separator: ";")))
        }
        throw .noPacketizationMode
    }
}

extension CodedFrame {
    /// level_idc of the first SPS; nil if there is none, or none that the standard knows (ITU-T H.264 table A-1).
    fileprivate var h264Level: UInt8? {
        let sets = units.lazy.filter {
            $0.count >= 4 && NALUnitHeader(bytes[$0.lowerBound])?.type == .sequenceParameterSet
        }
        return sets.first.map { bytes[$0.lowerBound + 3] }.flatMap { (10...62).contains($0) ? $0 : nil }
    }
}

extension PayloadFormat {
    /// H.264's packetization mode; the default is 0 (RFC 6184 section 8.1).
    fileprivate var packetizationMode: String { parameters["packetization-mode"] ?? "0" }

    /// H.264's profile and level.
    fileprivate var profileLevelID: ProfileLevelID {
        parameters["profile-level-id"].flatMap { ProfileLevelID(hexText: $0) } ?? .unspecified
    }

    fileprivate var is444: Bool { profileLevelID.profile == .high444Predictive }
}

extension SDPError {
    /// A viewer lists H.264, but not with packetization-mode 1.
    public static let noPacketizationMode1 = unusableFormats(
        "the peer takes H.264 with packetization-mode 0 only: 1 is needed")
    /// A publisher lists H.264, but with neither packetization-mode 1 nor 0.
    public static let noPacketizationMode = unusableFormats(
        "the publisher sends H.264 with neither packetization-mode 1 nor 0: one of them is needed")
}
