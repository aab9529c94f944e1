import CX264
import H264
import VideoEncoding

/// The NAL units of an encoder's last picture, without start codes. The memory of the list is reused for the next
/// picture; that of the NAL units is the encoder's.
final class NALUnitList {
    private let units: UnsafeMutableBufferPointer<UnsafeBufferPointer<UInt8>>
    private var count = 0

    /// Creates a list for at most `capacity` NAL units.
    init(capacity: Int) {
        units = .allocate(capacity: capacity)
    }

    deinit {
        units.deallocate()
    }

    func removeAll() { count = 0 }

    /// Appends a NAL unit; returns false if the list is full.
    func append(_ unit: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count < units.count else { return false }
        units.initializeElement(at: count, to: unit)
        count += 1
        return true
    }

    /// Appends the NAL units of libx264; returns the number of their bytes.
    func append(_ list: UnsafeMutablePointer<x264_nal_t>?, count: Int32) -> Int {
        guard let list else { return 0 }
        var bytes = 0
        for unit in UnsafeBufferPointer(start: list, count: max(0, Int(count))) {
            let whole = UnsafeBufferPointer(start: unit.p_payload, count: max(0, Int(unit.i_payload)))
            // The start code is 00 00 00 01 or, after the first NAL unit of a picture, 00 00 01.
            let startCode = (whole.firstIndex(of: 1) ?? -1) + 1
            // There is one slice for each picture, and an SEI: far fewer than the capacity.
            guard append(UnsafeBufferPointer(rebasing: whole[startCode...])) else { break }
            bytes += whole.count - startCode
        }
        return bytes
    }

    /// A picture of the NAL units, which is valid until the list changes.
    func picture(isIDR: Bool, byteCount: Int) -> EncodedPicture {
        EncodedPicture(units: all, isRandomAccess: isIDR, byteCount: byteCount)
    }

    /// The NAL units, valid until the list changes.
    var all: UnsafeBufferPointer<UnsafeBufferPointer<UInt8>> { UnsafeBufferPointer(rebasing: units[..<count]) }
}

extension UnsafeBufferPointer<UInt8> {
    /// `nal_unit_type` of the NAL unit (ITU-T H.264 section 7.3.1).
    var nalUnitType: NALUnitType { NALUnitType(rawValue: (first ?? 0) & 0x1F) }
}
