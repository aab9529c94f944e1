import ByteCoding

/// AVCDecoderConfigurationRecord: the parameter sets, and how many bytes the length of each NAL unit has (ISO/IEC
/// 14496-15 section 5.3.3.1).
struct AVCConfiguration: Hashable, Sendable {
    /// SPS and PPS, without start codes.
    let parameterSets: [ArraySlice<UInt8>]
    /// 1, 2 or 4.
    let lengthSize: Int

    init(_ bytes: ArraySlice<UInt8>) throws(RTMPError) {
        let cutOff = RTMPError.malformed("an H.264 configuration that is cut off")
        var reader = ByteReader(bytes)
        guard let fixed = reader.bytes(5), let version = fixed.first, let last = fixed.last else { throw cutOff }
        guard version == 1 else { throw .malformed("an H.264 configuration of version \(version)") }
        lengthSize = Int(last & 3) + 1
        guard lengthSize != 3 else { throw .malformed("NAL units with lengths of 3 bytes") }
        var sets: [ArraySlice<UInt8>] = []
        for mask in [0x1F, 0xFF] as [UInt8] {
            guard let count = reader.uint8() else { throw cutOff }
            for _ in 0..<count & mask {
                guard let length = reader.uint16(), let set = reader.bytes(Int(length)) else { throw cutOff }
                sets.append(set)
            }
        }
        parameterSets = sets
    }

    /// The NAL units of a picture, without their lengths.
    func nalUnits(in bytes: ArraySlice<UInt8>) throws(RTMPError) -> [ArraySlice<UInt8>] {
        var reader = ByteReader(bytes)
        var units: [ArraySlice<UInt8>] = []
        while !reader.isEmpty {
            let length: UInt32? =
                switch lengthSize {
                case 1: reader.uint8().map { UInt32($0) }
                case 2: reader.uint16().map { UInt32($0) }
                default: reader.uint32()
                }
            guard let length, let unit = reader.bytes(Int(length)) else {
                throw .malformed("a NAL unit that is longer than its picture")
            }
            if unit.isEmpty { continue }
            guard units.count < RTMPLimits.nalUnits else {
                throw .tooLarge("a picture with more than \(RTMPLimits.nalUnits) NAL units")
            }
            units.append(unit)
        }
        return units
    }
}
