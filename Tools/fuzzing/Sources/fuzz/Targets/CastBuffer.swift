import MediaTypes

@testable import WaylandCapture

extension FuzzTarget {
    /// What a PipeWire buffer says about its picture and its pointer.
    ///
    /// The input begins with seven numbers of 32 bits: the format, width and height, the chunk's offset, size and
    /// stride, and the bytes of the buffer's memory. Metadata follows: the transform, a number, the visible part, four
    /// numbers that are 0 if all is visible, and the rest, which is read as that of each other kind.
    static let castBuffer = FuzzTarget(name: "cast-buffer") { input in
        input.withUnsafeBytes { bytes in
            let numbers = (0..<7).compactMap { bytes.word(at: $0 * 4) }
            guard numbers.count == 7, bytes.count >= 48 else { return }
            let metadata = UnsafeRawBufferPointer(rebasing: bytes[48...])
            _ = BufferMetadata.header(metadata)
            checkPointer(metadata)
            checkPicture(
                numbers, transform: UnsafeRawBufferPointer(rebasing: bytes[28..<32]),
                crop: UnsafeRawBufferPointer(rebasing: bytes[32..<48]), damage: metadata)
        }
    }
}

private func checkPointer(_ metadata: UnsafeRawBufferPointer) {
    guard let report = try? CursorReport.read(metadata) else { return }
    var pointer = CastPointer()
    pointer.update(report)
    let area = pointer.area(in: PixelRectangle(x: 0, y: 0, width: 640, height: 480))
    check(max(area.width, area.height) <= Int(CursorReport.maxSide), "a pointer keeps its limit")
    check(area.width * area.height * 4 <= metadata.count, "a pointer has all of its pixels")
}

private func checkPicture(
    _ numbers: [UInt32], transform: UnsafeRawBufferPointer, crop: UnsafeRawBufferPointer,
    damage: UnsafeRawBufferPointer
) {
    let told = BufferMetadata.damage(damage)
    check(told.count <= damage.count / BufferMetadata.regionBytes, "each rectangle has its bytes")
    let memory = Int(numbers[6])
    let chunk = BufferLayout.Chunk(offset: numbers[3], size: numbers[4], stride: Int32(bitPattern: numbers[5]))
    guard let format = try? CastFormat(numbers[0], width: numbers[1], height: numbers[2]),
        let transform = try? PictureTransform(BufferMetadata.transform(transform)),
        let layout = try? BufferLayout(
            chunk, memory: memory, format: format, crop: BufferMetadata.crop(crop), transform: transform)
    else { return }
    let visible = layout.visible
    for column in [0, visible.width - 1] {
        for row in [0, visible.height - 1] {
            let start = layout.offset + column * layout.columnStep + row * layout.rowStep
            check(start >= 0 && start + CastFormat.bytesPerPixel <= memory, "all visible pixels are in the buffer")
        }
    }

    var pending = PendingDamage()
    var parts: [PixelRectangle] = []
    // The first picture is compared as a whole.
    for _ in 0..<2 {
        pending.add(
            told.map { transform.upright($0, in: format.size) }, visible: visible, transform: transform)
        parts = pending.take()
    }
    let whole = PixelRectangle(x: 0, y: 0, width: visible.width, height: visible.height)
    check(parts.allSatisfy { $0.intersection(whole) == $0 }, "what is compared is inside the picture")
    if memory <= 1 << 20 { compare(layout, format, parts, memory: memory) }
}

/// Reads the pixels, so that AddressSanitizer sees which ones.
private func compare(_ layout: BufferLayout, _ format: CastFormat, _ parts: [PixelRectangle], memory: Int) {
    let size = PictureSize(width: layout.visible.width, height: layout.visible.height)
    guard let kept = KeptPicture(size) else { return }
    var changes: [PixelRectangle] = []
    for value: UInt8 in [0, 1] {
        let pixels = [UInt8](repeating: value, count: memory)
        pixels.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            let new = KeptPicture.Pixels(
                base: base + layout.offset, columnStep: layout.columnStep, rowStep: layout.rowStep,
                order: format.order)
            kept.update(from: new, in: parts, changes: &changes)
            kept.settle()
        }
    }
    let whole = PixelRectangle(x: 0, y: 0, width: size.width, height: size.height)
    check(changes.allSatisfy { $0.intersection(whole) == $0 }, "what has changed is inside the picture")
}
