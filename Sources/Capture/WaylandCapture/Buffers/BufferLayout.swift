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

    /// The offset of the visible pixel that is at the top left once the picture is upright.
    let offset: Int
    /// The number of bytes from an upright pixel to its neighbour on the right; negative if that one comes before it.
    let columnStep: Int
    /// The number of bytes from an upright row to the next; negative if that one comes before it.
    let rowStep: Int
    /// The visible part of the upright picture.
    let visible: PixelRectangle

    /// Checks the layout of a picture in `format`.
    ///
    /// - Parameters:
    ///   - memory: The number of bytes that may be read.
    ///   - crop: The visible part, in pixels of the buffer; nil for all of it.
    ///   - transform: What was done to the upright picture, which is undone by reading in another order.
    init(
        _ chunk: Chunk, memory: Int, format: CastFormat, crop: PixelRectangle?, transform: PictureTransform = .none
    ) throws(BufferFault) {
        // None of these sums and products can overflow: the numbers have 32 bits, and a height has 15.
        let needed = format.size.width * CastFormat.bytesPerPixel
        let stride = Int(chunk.stride)
        guard stride >= needed else { throw .strideTooShort(stride: stride, needed: needed) }
        let start = Int(chunk.offset)
        let content = start + Int(chunk.size)
        guard content <= memory else { throw .outsideMemory(end: content, available: memory) }
        // The last row needs no padding.
        let end = start + (format.size.height - 1) * stride + needed
        guard end <= content else { throw .outsideMemory(end: end, available: content) }
        let stored = crop ?? format.size.whole
        guard !stored.isEmpty, stored.intersection(format.size.whole) == stored else {
            throw .cropOutside(stored, format.size)
        }
        let (first, right, down) = (transform.topLeft(of: stored), transform.right, transform.down)
        offset = start + first.y * stride + first.x * CastFormat.bytesPerPixel
        columnStep = right.y * stride + right.x * CastFormat.bytesPerPixel
        rowStep = down.y * stride + down.x * CastFormat.bytesPerPixel
        visible = transform.upright(stored, in: format.size)
    }
}
