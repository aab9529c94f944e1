/// One coded picture, as units in the sense of `CodedFrame.units`. They are in the encoder's memory and valid until the
/// encoder's next call: nothing is copied before it goes to the host or into a recording.
public struct EncodedPicture: RandomAccessCollection {
    /// Whether decoding can begin with it. Its first units are then its headers.
    public let isRandomAccess: Bool
    /// The number of coded bytes that rate control counts: those of all units except headers.
    public let byteCount: Int
    /// The units, in memory that is valid as long as the picture.
    public let units: UnsafeBufferPointer<UnsafeBufferPointer<UInt8>>

    /// Creates a picture of units, none of which may be empty; the caller owns the memory.
    public init(units: UnsafeBufferPointer<UnsafeBufferPointer<UInt8>>, isRandomAccess: Bool, byteCount: Int) {
        self.units = units
        self.isRandomAccess = isRandomAccess
        self.byteCount = byteCount
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { units.count }
    public subscript(index: Int) -> UnsafeBufferPointer<UInt8> { units[index] }
}
