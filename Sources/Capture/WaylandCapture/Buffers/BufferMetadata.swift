import MediaTypes

/// Reads the metadata of a buffer from the memory that its sender writes to (spa/buffer/meta.h). The sender may go on
/// writing there, so each number is read once.
enum BufferMetadata {
    /// What the header says (struct spa_meta_header).
    ///
    ///      0        4         8            16            24
    ///     +--------+---------+------------+-------------+------------+
    ///     | flags  | offset  | pts i64    | dts offset  | sequence   |
    ///     +--------+---------+------------+-------------+------------+
    struct Header: Equatable {
        var flags: UInt32
        /// When the picture was painted, in nanoseconds of CLOCK_MONOTONIC, if the sender keeps to that.
        var time: Int64
    }

    /// Returns the header; nil if there is none.
    static func header(_ bytes: UnsafeRawBufferPointer) -> Header? {
        guard let flags = bytes.word(at: 0), bytes.count >= 16 else { return nil }
        return Header(flags: flags, time: bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self))
    }

    /// Returns the visible part of the picture, which may lie anywhere; nil if it is the whole picture.
    static func crop(_ bytes: UnsafeRawBufferPointer) -> PixelRectangle? {
        guard let region = region(bytes, at: 0), !region.isEmpty else { return nil }
        return region
    }

    /// Returns the parts of the picture that have changed, which may lie anywhere; empty if the sender doesn't say any.
    static func damage(_ bytes: UnsafeRawBufferPointer) -> [PixelRectangle] {
        var regions: [PixelRectangle] = []
        var offset = 0
        // An empty one marks the end.
        while let region = region(bytes, at: offset), !region.isEmpty {
            regions.append(region)
            offset += regionBytes
        }
        return regions
    }

    /// Returns how the picture is rotated or mirrored (struct spa_meta_videotransform), a number of
    /// ``PictureTransform``; 0 for not at all.
    static func transform(_ bytes: UnsafeRawBufferPointer) -> UInt32 { bytes.word(at: 0) ?? 0 }

    /// The size of struct spa_meta_region: left and top, with a sign, width and height.
    static let regionBytes = 16

    private static func region(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> PixelRectangle? {
        guard let x = bytes.word(at: offset), let y = bytes.word(at: offset + 4),
            let width = bytes.word(at: offset + 8), let height = bytes.word(at: offset + 12)
        else { return nil }
        return PixelRectangle(
            x: Int(Int32(bitPattern: x)), y: Int(Int32(bitPattern: y)), width: Int(width), height: Int(height))
    }
}

extension UnsafeRawBufferPointer {
    /// The 32 bits at `offset`; nil if there are fewer.
    func word(at offset: Int) -> UInt32? {
        guard offset >= 0, offset <= count - 4 else { return nil }
        return loadUnaligned(fromByteOffset: offset, as: UInt32.self)
    }
}
