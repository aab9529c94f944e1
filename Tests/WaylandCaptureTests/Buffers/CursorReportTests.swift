import CPipeWire
import CaptureEngine
import MediaTypes
import TestSupport
import Testing

@testable import WaylandCapture

@Suite("pointer of a buffer")
struct CursorReportTests {
    private func read(_ bytes: [UInt8]) throws -> CursorReport? {
        try bytes.withUnsafeBytes { try CursorReport.read($0) }
    }

    @Test("a place without a bitmap keeps the shape, and an identifier of 0 hides the pointer")
    func places() throws {
        #expect(try read(MetadataBytes.pointer().bytes) == .at(x: 30, y: 40, shape: nil))
        #expect(try read(MetadataBytes.pointer(id: 0).bytes) == .hidden)
        #expect(try read([]) == nil)
    }

    @Test("pixels are read in any order of their bytes, from padded rows")
    func orders() throws {
        // Alpha, red, green and blue, as each format stores them in memory.
        let stored: [(spa_video_format, UInt32)] = [
            (SPA_VIDEO_FORMAT_BGRA, 0x8011_2233), (SPA_VIDEO_FORMAT_RGBA, 0x8033_2211),
            (SPA_VIDEO_FORMAT_ARGB, 0x3322_1180), (SPA_VIDEO_FORMAT_ABGR, 0x1122_3380),
        ]
        for (format, pixel) in stored {
            let bytes = MetadataBytes.pointer(
                bitmap: (format.rawValue, 2, 2, 12), pixels: [pixel, pixel, 0, pixel, pixel])
            let shape = PointerShape(
                width: 2, height: 2, hotX: 1, hotY: 1, pixels: [UInt32](repeating: 0x8011_2233, count: 4))
            #expect(try read(bytes.bytes) == .at(x: 30, y: 40, shape: shape))
        }
    }

    @Test("a bitmap of no size can't be seen, and any other one without a format keeps the shape")
    func empty() throws {
        for format in [SPA_VIDEO_FORMAT_RGBA.rawValue, 0] {
            let bytes = MetadataBytes.pointer(bitmap: (format, 0, 0, 0))
            #expect(try read(bytes.bytes) == .at(x: 30, y: 40, shape: PointerShape()))
        }
        let unknown = MetadataBytes.pointer(bitmap: (0, 1, 1, 4), pixels: [0xFFFF_FFFF])
        #expect(try read(unknown.bytes) == .at(x: 30, y: 40, shape: nil))
    }

    @Test("a pointer larger than agreed, in another format, or outside its metadata is refused")
    func refused() {
        let format = SPA_VIDEO_FORMAT_RGBA.rawValue
        #expect(throws: BufferFault.pointerTooLarge(width: 385, height: 1)) {
            try read(MetadataBytes.pointer(bitmap: (format, 385, 1, 1540)).bytes)
        }
        #expect(throws: BufferFault.pointerFormat(SPA_VIDEO_FORMAT_I420.rawValue)) {
            try read(MetadataBytes.pointer(bitmap: (SPA_VIDEO_FORMAT_I420.rawValue, 1, 1, 4), pixels: [0]).bytes)
        }
        for stride in [7, -8, Int32.max] {
            #expect(throws: BufferFault.self) {
                try read(MetadataBytes.pointer(bitmap: (format, 2, 2, stride), pixels: [0, 0, 0, 0]).bytes)
            }
        }
    }

    @Test("no prefix and no mutation of a report does harm")
    func mutated() {
        let whole = MetadataBytes.pointer(
            bitmap: (SPA_VIDEO_FORMAT_BGRA.rawValue, 3, 2, 12), pixels: [UInt32](repeating: 0xFFFF_FFFF, count: 6)
        ).bytes
        for count in 0..<whole.count { _ = try? read(Array(whole.prefix(count))) }
        var random = SeededRandom(seed: 41)
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<48, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard case .at(_, _, let shape?)? = try? read(bytes) else { continue }
            #expect(shape.pixels.count == shape.width * shape.height)
            #expect(shape.width <= 384 && shape.height <= 384)
        }
    }

    @Test("only what changes is news, and a shape without a visible pixel is hidden")
    func news() {
        let shape = PointerShape(width: 1, height: 1, hotX: 0, hotY: 0, pixels: [0xFF00_0000])
        var pointer = CastPointer()
        func isNews(_ report: CursorReport) -> Bool {
            pointer.hasNews = false
            pointer.update(report)
            return pointer.hasNews
        }
        #expect(isNews(.at(x: 5, y: 6, shape: shape)))
        #expect(pointer.isVisible && pointer.shapeNumber == 1)
        #expect(!isNews(.at(x: 5, y: 6, shape: nil)))
        #expect(!isNews(.at(x: 5, y: 6, shape: shape)))
        #expect(isNews(.at(x: 6, y: 6, shape: nil)))
        let visible = PixelRectangle(x: 2, y: 3, width: 10, height: 10)
        #expect(pointer.area(in: visible) == PixelRectangle(x: 4, y: 3, width: 1, height: 1))
        #expect(isNews(.hidden))
        #expect(pointer.area(in: visible).isEmpty)
        #expect(!isNews(.hidden))
        #expect(isNews(.at(x: 6, y: 6, shape: nil)))
        #expect(isNews(.at(x: 6, y: 6, shape: PointerShape())))
        #expect(!pointer.isVisible && pointer.shapeNumber == 2)
    }
}
