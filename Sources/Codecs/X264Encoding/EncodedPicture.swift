import CX264

/// The three planes of a source picture. The caller owns the memory.
public struct SourcePlanes {
    /// Y.
    public var luma: UnsafePointer<UInt8>
    /// Cb, or Cb and Cr interleaved if `isInterleaved` is true.
    public var blueDifference: UnsafePointer<UInt8>
    /// Cr.
    public var redDifference: UnsafePointer<UInt8>
    /// The number of bytes from one luma row to the next.
    public var lumaStride: Int
    /// The number of bytes from one chroma row to the next.
    public var chromaStride: Int
    /// Whether the first chroma plane holds both components (NV12).
    public var isInterleaved = false

    /// Creates planes at these addresses.
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

/// The NAL units of one picture. They are in the encoder's memory and valid until the encoder's next call.
public struct EncodedPicture: RandomAccessCollection {
    /// Whether it is an IDR picture.
    public let isIDR: Bool
    /// The mean quantizer that the library used, 0...51.
    public let quantizer: Int
    private let units: UnsafeBufferPointer<EncodedNALUnit>

    init(units: UnsafeBufferPointer<EncodedNALUnit>, isIDR: Bool, quantizer: Int) {
        self.units = units
        self.isIDR = isIDR
        self.quantizer = quantizer
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { units.count }
    public subscript(index: Int) -> EncodedNALUnit { units[index] }

    /// The number of bytes in all NAL units, without start codes.
    public var byteCount: Int { units.reduce(0) { $0 + $1.bytes.count } }
}

/// One NAL unit in the encoder's memory.
public struct EncodedNALUnit {
    /// `nal_unit_type` (ITU-T H.264 table 7-1).
    public let type: UInt8
    /// The NAL unit without its start code, beginning with the header byte.
    public let bytes: UnsafeBufferPointer<UInt8>

    init(type: UInt8, bytes: UnsafeBufferPointer<UInt8>) {
        self.type = type
        self.bytes = bytes
    }

    init(_ unit: x264_nal_t) {
        let whole = UnsafeBufferPointer(start: unit.p_payload, count: Swift.max(0, Int(unit.i_payload)))
        // The start code is 00 00 00 01 or, after the first NAL unit of a picture, 00 00 01.
        let startCode = (whole.firstIndex(of: 1) ?? -1) + 1
        bytes = UnsafeBufferPointer(rebasing: whole[startCode...])
        type = UInt8(truncatingIfNeeded: unit.i_type)
    }
}

/// The NAL units of an encoder's last picture. The memory is reused for the next picture.
final class NALUnitList {
    private let units: UnsafeMutableBufferPointer<EncodedNALUnit>
    private(set) var count = 0

    /// Creates a list for at most `capacity` NAL units.
    init(capacity: Int) {
        units = .allocate(capacity: capacity)
    }

    deinit {
        units.deallocate()
    }

    func removeAll() { count = 0 }

    /// Appends a NAL unit; returns false if the list is full.
    func append(_ unit: EncodedNALUnit) -> Bool {
        guard count < units.count else { return false }
        units.initializeElement(at: count, to: unit)
        count += 1
        return true
    }

    var all: UnsafeBufferPointer<EncodedNALUnit> { UnsafeBufferPointer(rebasing: units[..<count]) }
}

/// The SPS and PPS, copied from the output of `x264_encoder_headers`.
struct ParameterSetBytes {
    let sequence: [UInt8]
    let picture: [UInt8]

    init?(_ headers: UnsafeBufferPointer<EncodedNALUnit>) {
        guard let sequence = headers.first(where: { $0.type == UInt8(NAL_SPS.rawValue) }),
            let picture = headers.first(where: { $0.type == UInt8(NAL_PPS.rawValue) })
        else { return nil }
        self.sequence = Array(sequence.bytes)
        self.picture = Array(picture.bytes)
    }
}
