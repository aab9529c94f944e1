import MediaTypes

/// Where the visible pixels of a picture lie in the memory of its buffer. Every one of them lies inside the memory.
struct BufferLayout: Equatable {
    /// What the sender says about a block of memory (struct spa_chunk).
    struct Chunk {
        /// Where the content begins.
        var offset: UInt32
        /// The number of bytes of the content.
        var size: UInt32
        /// The number of bytes from one row to the next.
        var stride: Int32
    }

    /// The offset of the top left visible pixel.
    let offset: Int
    /// The number of bytes from one row to the next.
    let stride: Int
    /// The visible part of the picture.
    let visible: PixelRectangle

    /// Checks the layout of a picture in `format`.
    ///
    /// - Parameters:
    ///   - memory: The number of bytes that may be read.
    ///   - crop: The visible part; nil for all of it.
    init(_ chunk: Chunk, memory: Int, format: CastFormat, crop: PixelRectangle?) throws(BufferFault) {
        // None of these sums and products can overflow: the numbers have 32 bits, and a height has 15.
        let needed = format.size.width * CastFormat.bytesPerPixel
        stride = Int(chunk.stride)
        guard stride >= needed else { throw .strideTooShort(stride: stride, needed: needed) }
        let start = Int(chunk.offset)
        let content = start + Int(chunk.size)
        guard content <= memory else { throw .outsideMemory(end: content, available: memory) }
        // The last row needs no padding.
        let end = start + (format.size.height - 1) * stride + needed
        guard end <= content else { throw .outsideMemory(end: end, available: content) }
        visible = crop ?? format.size.whole
        guard !visible.isEmpty, visible.intersection(format.size.whole) == visible else {
            throw .cropOutside(visible, format.size)
        }
        offset = start + visible.y * stride + visible.x * CastFormat.bytesPerPixel
    }
}
