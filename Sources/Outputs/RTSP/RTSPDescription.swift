public import MediaTypes

/// The description of a track (RFC 4566).
public enum RTSPDescription {
    /// The section of a track's pictures (RFC 6184 section 8.2.1); nil if `frame`, a random access frame, doesn't begin
    /// with an SPS and a PPS.
    public static func pictures(of frame: CodedFrame) -> [String]? {
        func unit(_ type: UInt8) -> ArraySlice<UInt8>? {
            frame.units.first { frame.bytes[$0.lowerBound] & 0x1F == type }.map { frame.bytes[$0] }
        }
        guard let sequence = unit(7), let picture = unit(8), sequence.count >= 4 else { return nil }
        let profile = sequence.dropFirst().prefix(3).hexadecimal(uppercase: true)
        return section(
            .pictures, kind: "video",
            parameters: "packetization-mode=1;profile-level-id=\(profile);sprop-parameter-sets="
                + Base64.encoded(sequence) + "," + Base64.encoded(picture))
    }

    /// The section of a track's sound, in the codec of `media`.
    public static func sound(_ media: RTSPMedia) -> [String] {
        // Players that aren't told of stereo may play mono (RFC 7587 section 6.1).
        section(media, kind: "audio", parameters: media == .opus ? "sprop-stereo=1" : nil)
    }

    private static func section(_ media: RTSPMedia, kind: String, parameters: String?) -> [String] {
        let type = media.payloadType
        return ["m=\(kind) 0 RTP/AVP \(type)", "a=rtpmap:\(type) \(media.encoding)"]
            + (parameters.map { ["a=fmtp:\(type) \($0)"] } ?? []) + ["a=control:\(media.control)"]
    }

    /// The text with these sections.
    ///
    /// - Parameters:
    ///   - sections: the lines of all sections, without their ends.
    ///   - name: what the stream is called.
    ///   - address: the host's own numeric address on the client's connection.
    ///   - identifier: another number for each description.
    public static func text(_ sections: [String], name: String, address: String, identifier: UInt32) -> String {
        let version = address.contains(":") ? 6 : 4
        let lines = [
            "v=0", "o=- \(identifier) 1 IN IP\(version) \(address)",
            "s=" + String(name.map { $0.isNewline ? " " : $0 }),
            "c=IN IP\(version) \(version == 6 ? "::" : "0.0.0.0")", "t=0 0", "a=control:*", "a=range:npt=0-",
        ]
        return (lines + sections).map { $0 + "\r\n" }.joined()
    }
}
