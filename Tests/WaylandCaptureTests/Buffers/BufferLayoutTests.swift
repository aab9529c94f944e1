import CPipeWire
import MediaTypes
import Testing

@testable import WaylandCapture

@Suite("layout of a buffer's pixels")
struct BufferLayoutTests {
    private static func format(_ width: UInt32 = 100, _ height: UInt32 = 50) throws -> CastFormat {
        try CastFormat(SPA_VIDEO_FORMAT_BGRx.rawValue, width: width, height: height)
    }

    @Test("formats with four bytes a pixel are read, and others are refused by name")
    func formats() throws {
        for (number, order) in [
            (SPA_VIDEO_FORMAT_BGRx, .bgrx), (SPA_VIDEO_FORMAT_BGRA, .bgrx),
            (SPA_VIDEO_FORMAT_RGBx, .rgbx), (SPA_VIDEO_FORMAT_RGBA, .rgbx),
        ] as [(spa_video_format, CastFormat.Order)] {
            #expect(try CastFormat(number.rawValue, width: 1, height: 1).order == order)
        }
        #expect(throws: BufferFault.unsupportedFormat("xBGR_210LE")) {
            try CastFormat(SPA_VIDEO_FORMAT_xBGR_210LE.rawValue, width: 1, height: 1)
        }
        #expect(throws: BufferFault.unsupportedFormat("number 9999")) {
            try CastFormat(9999, width: 1, height: 1)
        }
    }

    @Test("a side has 1 to 16384 pixels, and a picture 64 million")
    func sizes() throws {
        for (width, height) in [(1, 1), (16384, 4096), (8192, 8192)] as [(UInt32, UInt32)] {
            #expect(try Self.format(width, height).size == PictureSize(width: Int(width), height: Int(height)))
        }
        let unusable: [(UInt32, UInt32)] = [
            (0, 1), (1, 0), (16385, 1), (1, .max), (.max, .max), (16384, 4097), (16384, 16384),
        ]
        for (width, height) in unusable {
            #expect(throws: BufferFault.sizeOutOfRange(width: width, height: height)) {
                try Self.format(width, height)
            }
        }
    }

    @Test("the visible part is found behind the offset, with padded rows, of which the last needs no padding")
    func found() throws {
        let crop = PixelRectangle(x: 10, y: 20, width: 90, height: 30)
        let size = UInt32(49 * 416 + 400)
        let layout = try BufferLayout(
            .init(offset: 64, size: size, stride: 416), memory: 64 + Int(size), format: Self.format(), crop: crop)
        #expect(layout.offset == 64 + 20 * 416 + 40)
        #expect(layout.rowStep == 416 && layout.columnStep == 4)
        #expect(layout.visible == crop)
        let whole = try BufferLayout(
            .init(offset: 0, size: size, stride: 416), memory: Int(size), format: Self.format(), crop: nil)
        #expect(whole.visible == PixelRectangle(x: 0, y: 0, width: 100, height: 50))
    }

    @Test("a layout that isn't inside the memory is refused, however large its numbers are")
    func outside() throws {
        let format = try Self.format()
        let needed = 49 * 400 + 400
        func layout(_ offset: UInt32, _ size: UInt32, _ stride: Int32, _ memory: Int) throws -> BufferLayout {
            try BufferLayout(
                .init(offset: offset, size: size, stride: stride), memory: memory, format: format, crop: nil)
        }
        #expect(throws: Never.self) { try layout(0, UInt32(needed), 400, needed) }
        for stride in [399, 0, -400, Int32.min] {
            #expect(throws: BufferFault.strideTooShort(stride: Int(stride), needed: 400)) {
                try layout(0, UInt32(needed), stride, needed)
            }
        }
        #expect(throws: BufferFault.outsideMemory(end: needed + 1, available: needed)) {
            try layout(1, UInt32(needed), 400, needed)
        }
        #expect(throws: BufferFault.outsideMemory(end: needed, available: needed - 1)) {
            try layout(0, UInt32(needed - 1), 400, needed)
        }
        #expect(throws: BufferFault.self) { try layout(.max, .max, 400, needed) }
        #expect(throws: BufferFault.self) { try layout(0, UInt32(needed), .max, needed) }
    }

    @Test("a visible part that isn't inside the picture is refused")
    func crop() throws {
        let format = try Self.format()
        for crop in [
            PixelRectangle(x: -1, y: 0, width: 10, height: 10), PixelRectangle(x: 91, y: 0, width: 10, height: 10),
            PixelRectangle(x: 0, y: 41, width: 10, height: 10),
            PixelRectangle(x: Int(Int32.max), y: 0, width: Int(UInt32.max), height: 1),
        ] {
            #expect(throws: BufferFault.cropOutside(crop, format.size)) {
                try BufferLayout(
                    .init(offset: 0, size: 20_000, stride: 400), memory: 20_000, format: format, crop: crop)
            }
        }
    }
}
