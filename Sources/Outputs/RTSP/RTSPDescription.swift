public import MediaTypes

/// The description of a track of H.264 (RFC 4566, RFC 6184 section 8.2.1).
public enum RTSPDescription {
    /// The payload type of the pictures.
    public static let payloadType: UInt8 = 96

    /// The text for a place's stream; nil if `frame` doesn't begin with an SPS and a PPS.
    ///
    /// - Parameters:
    ///   - frame: a random access frame.
    ///   - name: what the stream is called.
    ///   - address: the host's own numeric address on the client's connection.
    ///   - identifier: another number for each description.
    public static func text(of frame: CodedFrame, name: String, address: String, identifier: UInt32) -> String? {
        func unit(_ type: UInt8) -> ArraySlice<UInt8>? {
            frame.units.first { frame.bytes[$0.lowerBound] & 0x1F == type }.map { frame.bytes[$0] }
        }
        guard let sequence = unit(7), let picture = unit(8), sequence.count >= 4 else { return nil }
        let profile = sequence.dropFirst().prefix(3).map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return byte < 16 ? "0" + digits : digits
        }.joined()
        let version = address.contains(":") ? 6 : 4
        let lines = [
            "v=0", "o=- \(identifier) 1 IN IP\(version) \(address)",
            "s=" + String(name.map { $0.isNewline ? " " : $0 }),
            "c=IN IP\(version) \(version == 6 ? "::" : "0.0.0.0")", "t=0 0", "a=control:*", "a=range:npt=0-",
            "m=video 0 RTP/AVP \(payloadType)", "a=rtpmap:\(payloadType) H264/90000",
            "a=fmtp:\(payloadType) packetization-mode=1;profile-level-id=\(profile);sprop-parameter-sets="
                + Base64.encoded(sequence) + "," + Base64.encoded(picture),
            "a=control:\(RTSPPlace.control)",
        ]
        return lines.map { $0 + "\r\n" }.joined()
    }
}
