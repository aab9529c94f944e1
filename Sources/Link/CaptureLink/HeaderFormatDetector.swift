import CodecTable
import MediaTypes

/// Detects the form of a connection from its first message.
///
/// The first message of the extended form has a kind, flags or stream other than zero, or an epoch. The 16-byte form
/// has its payload where the 40-byte forms have their time: a start code at byte 16 and a NAL unit header at byte 20.
public enum HeaderFormatDetector {
    /// The number of bytes that every first message has: 16 of header and at least 5 of payload.
    public static let firstLook = 21

    /// Returns the form of the connection that began with `bytes`, or nil if more bytes are needed.
    public static func form(of bytes: [UInt8]) -> HeaderFormat? {
        guard bytes.count >= 8 else { return nil }
        if bytes[1..<8].contains(where: { $0 != 0 }) { return .extended }
        guard bytes.count >= firstLook else { return nil }
        // The legacy forms are those of a sender of H.264.
        let isUnit = bytes[16..<20].elementsEqual(MessageHeader.unitMark)
        if isUnit, TrackFormat.Codec.h264.coding.facts(of: bytes[20...]) != nil { return .legacy16 }
        guard bytes.count >= HeaderFormat.legacy40.headerCount else { return nil }
        return bytes[32..<40].contains { $0 != 0 } ? .extended : .legacy40
    }
}
