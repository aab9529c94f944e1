/// The bytes of metadata, as a compositor writes them.
struct MetadataBytes {
    private(set) var bytes: [UInt8] = []

    /// Appends a number, little-endian.
    mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ numbers: [Int32]) {
        for number in numbers { append(number) }
    }

    /// The pointer at (30, 40) with its hot spot at (1, 2). `bitmap` is its format, size and stride; nil for none.
    static func pointer(
        id: UInt32 = 1, bitmap: (format: UInt32, width: UInt32, height: UInt32, stride: Int32)? = nil,
        pixels: [UInt32] = []
    ) -> MetadataBytes {
        var result = MetadataBytes()
        result.append(id)
        result.append([0, 30, 40, 1, 2])
        guard let bitmap else {
            result.append(UInt32(0))
            return result
        }
        result.append(UInt32(28))
        result.append(bitmap.format)
        result.append(bitmap.width)
        result.append(bitmap.height)
        result.append(bitmap.stride)
        result.append(UInt32(20))
        for pixel in pixels { result.append(pixel) }
        return result
    }
}
