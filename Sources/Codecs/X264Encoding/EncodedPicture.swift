import CX264

/// The three planes of a picture to encode; they belong to the caller.
public struct SourcePlanes {
    /// Y.
    public var luma: UnsafePointer<UInt8>
    /// Cb.
    public var blueDifference: UnsafePointer<UInt8>
    /// Cr.
    public var redDifference: UnsafePointer<UInt8>
    /// Bytes from one row of luma to the next.
    public var lumaStride: Int
    /// Bytes from one row of a chroma plane to the next.
    public var chromaStride: Int

    /// Planes at these addresses.
    public init(
        luma: UnsafePointer<UInt8>, blueDifference: UnsafePointer<UInt8>, redDifference: UnsafePointer<UInt8>,
        lumaStride: Int, chromaStride: Int
    ) {
        self.luma = luma
        self.blueDifference = blueDifference
        self.redDifference = redDifference
        self.lumaStride = lumaStride
        self.chromaStride = chromaStride
    }
}

/// The NAL units of one picture, in the encoder's own memory: valid until the encoder's next call.
public struct EncodedPicture: RandomAccessCollection {
    /// Whether it is an IDR picture.
    public let isIDR: Bool
    /// The mean quantizer that the library used, 0...51.
    public let quantizer: Int
    private let units: UnsafeBufferPointer<x264_nal_t>

    init(units: UnsafeMutablePointer<x264_nal_t>?, count: Int32, isIDR: Bool, quantizer: Int) {
        self.units = UnsafeBufferPointer(start: units, count: units == nil ? 0 : Int(count))
        self.isIDR = isIDR
        self.quantizer = quantizer
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { units.count }
    public subscript(index: Int) -> EncodedNALUnit { EncodedNALUnit(units[index]) }
}

/// One NAL unit in the encoder's own memory.
public struct EncodedNALUnit {
    /// `nal_unit_type` (ITU-T H.264 table 7-1).
    public let type: UInt8
    /// The NAL unit from its header byte on, without a start code.
    public let bytes: UnsafeBufferPointer<UInt8>

    init(_ unit: x264_nal_t) {
        let whole = UnsafeBufferPointer(start: unit.p_payload, count: max(0, Int(unit.i_payload)))
        // 00 00 00 01 or, behind the first NAL unit of a picture, 00 00 01.
        let startCode = (whole.firstIndex(of: 1) ?? -1) + 1
        bytes = UnsafeBufferPointer(rebasing: whole[startCode...])
        type = UInt8(truncatingIfNeeded: unit.i_type)
    }
}

/// SPS and PPS, copied out of what `x264_encoder_headers` gave.
struct ParameterSetBytes {
    let sequence: [UInt8]
    let picture: [UInt8]

    init?(_ headers: EncodedPicture) {
        guard let sequence = headers.first(where: { $0.type == UInt8(NAL_SPS.rawValue) }),
            let picture = headers.first(where: { $0.type == UInt8(NAL_PPS.rawValue) })
        else { return nil }
        self.sequence = Array(sequence.bytes)
        self.picture = Array(picture.bytes)
    }
}
