import H264

/// Tells the form of a connection from its first message.
///
/// Ours has a kind, flags or stream other than zero, or an epoch. The 16-byte form has its payload where the 40-byte
/// forms have their time: a start code at 16 and a NAL unit header at 20.
public enum FormDetection {
    /// So many bytes every first message has: 16 of header and a payload of at least 5, or more.
    public static let firstLook = 21

    /// The form of the connection that began with `bytes`; nil where more of them are needed.
    public static func form(of bytes: [UInt8]) -> LinkForm? {
        guard bytes.count >= 8 else { return nil }
        if bytes[1..<8].contains(where: { $0 != 0 }) { return .extended }
        guard bytes.count >= firstLook else { return nil }
        if bytes[16..<20].elementsEqual(AnnexB.startCode), let header = NALUnitHeader(bytes[20]),
            !header.type.isUnspecified
        {
            return .legacy16
        }
        guard bytes.count >= LinkForm.legacy40.headerCount else { return nil }
        return bytes[32..<40].contains { $0 != 0 } ? .extended : .legacy40
    }
}
