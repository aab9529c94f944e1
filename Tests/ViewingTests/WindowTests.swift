import Glibc
import MediaTypes
import Testing

@testable import Viewing

@Suite("A viewer's window")
struct WindowTests {
    private func size(_ width: Int, _ height: Int) -> PictureSize { PictureSize(width: width, height: height) }

    /// A grey picture in which each pixel differs from its neighbours.
    private func picture(_ width: Int, _ height: Int) -> I420Picture {
        let luma = (0..<height).flatMap { row in (0..<width).map { brightness(row, $0) } }
        return I420Picture(
            size: size(width, height), bytes: luma + [UInt8](repeating: 128, count: width * height / 2),
            isFullRange: true, matrix: .bt601, captureTime: nil)
    }

    private func brightness(_ row: Int, _ column: Int) -> UInt8 { UInt8(clamping: 20 + row * 20 + column * 3) }

    @Test("keys have actions by their keysyms, with or without Shift")
    func keys() {
        func action(_ symbols: UInt32...) -> WindowAction? { WindowAction(symbols) }
        #expect(action(0x66, 0x46) == .toggleFullScreen && action(0xFF1B) == .leaveFullScreen)
        #expect(action(0x77) == .fit && action(0x30) == .fit && action(0x31, 0x21) == .actual)
        // On a French keyboard, the digit 1 needs Shift.
        #expect(action(0x26, 0x31) == .actual)
        #expect(action(0x71, 0x51) == nil && action() == nil)
    }

    @Test("keys of a Wayland keymap have actions in each of its layouts")
    func keymap() throws {
        // The evdev codes 1, 2 and 33.
        let text = """
            xkb_keymap {
            xkb_keycodes { minimum = 8; maximum = 255; <ESC> = 9; <ONE> = 10; <F> = 41; };
            xkb_types { type "TWO_LEVEL" { modifiers = Shift; map[Shift] = 2; }; };
            xkb_compatibility { };
            xkb_symbols {
                key <ESC> { type = "TWO_LEVEL", [ Escape, NoSymbol ] };
                key <ONE> { type = "TWO_LEVEL", [ ampersand, 1 ] };
                key <F> { type = "TWO_LEVEL", [ f, F ], [ Cyrillic_a, Cyrillic_A ] };
            };
            };

            """
        // A keymap ends with a zero.
        let bytes = Array(text.utf8) + [0]
        let (base, file) = try #require(mappedFile(of: bytes.count))
        defer {
            munmap(base, bytes.count)
            close(file)
        }
        base.copyMemory(from: bytes, byteCount: bytes.count)
        let keys = try #require(WaylandKeys(file, bytes.count))
        #expect(keys.action(of: 1) == .leaveFullScreen)
        #expect(keys.action(of: 2) == .actual)
        #expect(keys.action(of: 33) == .toggleFullScreen)
        #expect(keys.action(of: 17) == nil && keys.action(of: .max) == nil)
        keys.layout = 1
        #expect(keys.action(of: 33) == nil)
        #expect(keys.action(of: 1) == .leaveFullScreen)
        #expect(WaylandKeys(file, 0) == nil && WaylandKeys(file, Int(UInt32.max)) == nil && WaylandKeys(-1, 40) == nil)
        // Without an end, it isn't a keymap.
        #expect(WaylandKeys(file, 40) == nil)
    }

    @Test("a keymap that is shorter than the compositor says is read to its end")
    func shortKeymap() throws {
        let text = """
            xkb_keymap {
            xkb_keycodes { minimum = 8; maximum = 255; <F> = 41; };
            xkb_types { };
            xkb_compatibility { };
            xkb_symbols { key <F> { [ f ] }; };
            };
            """
        // Whole pages without a zero: memory behind them can't be read.
        let count = 16_384
        let bytes = Array(text.utf8) + [UInt8](repeating: 0x20, count: count - text.utf8.count)
        let (base, file) = try #require(mappedFile(of: count))
        defer {
            munmap(base, count)
            close(file)
        }
        base.copyMemory(from: bytes, byteCount: count)
        let keys = try #require(WaylandKeys(file, 2 * count))
        #expect(keys.action(of: 33) == .toggleFullScreen)
    }

    @Test("a window of a Wayland compositor has at most 64 million pixels, whatever the compositor asks for")
    func largestWindow() {
        #expect(WaylandWindow.size(7680, 4320) == size(7680, 4320) && WaylandWindow.size(1, 1) == size(1, 1))
        #expect(WaylandWindow.size(20_000, 2000) == size(16_384, 2000))
        #expect(WaylandWindow.size(16_384, 16_384) == size(8192, 8192))
        #expect(WaylandWindow.size(.max, .max) == size(8192, 8192))
        let wide = WaylandWindow.size(16_384, 8192) ?? size(0, 0)
        #expect(wide.width > 11_000 && wide.width > wide.height && wide.width * wide.height <= 1 << 26)
        #expect(WaylandWindow.size(0, 480) == nil && WaylandWindow.size(640, -1) == nil)
    }

    @Test("a picture is fitted into the window, or shown in its own size")
    func sizes() {
        var content = WindowContent()
        #expect(content.shown(in: size(16, 16)) == nil)
        content.picture = picture(8, 8)
        #expect(content.shown(in: size(16, 16))?.size == size(16, 16))
        #expect(content.shown(in: size(17, 9))?.size == size(16, 8))
        #expect(content.shown(in: size(1, 9)) == nil)
        content.toggleActualSize()
        #expect(content.shown(in: size(16, 16))?.size == size(8, 8))
        content.toggleActualSize()
        #expect(content.shown(in: size(16, 16))?.size == size(16, 16))
        content.toggleActualSize()
        content.fit()
        #expect(content.shown(in: size(16, 16))?.size == size(16, 16))
    }

    @Test("a window that shares its pixels shows the middle of a larger picture, and black around a smaller one")
    func pixels() {
        for (window, shown) in [
            (size(8, 8), size(8, 8)), (size(10, 6), size(4, 4)), (size(4, 4), size(8, 8)), (size(4, 10), size(8, 4)),
            (size(9, 4), size(4, 8)),
        ] {
            let count = window.width * window.height * 4
            let base = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 64)
            defer { base.deallocate() }
            memset(base, 255, count)
            var pixels = WindowPixels(window, at: base)
            pixels.draw(picture(shown.width, shown.height))
            let (x, y) = ((window.width - shown.width) / 2, (window.height - shown.height) / 2)
            for row in 0..<window.height {
                for column in 0..<window.width {
                    let isInside = (x..<x + shown.width).contains(column) && (y..<y + shown.height).contains(row)
                    let wanted = isInside ? Int(brightness(row - y, column - x)) : 0
                    let place = (row * window.width + column) * 4
                    let parts = (0..<3).map { Int(base.load(fromByteOffset: place + $0, as: UInt8.self)) }
                    let isSame = parts.allSatisfy { abs($0 - wanted) <= 1 }
                    #expect(isSame, "\(shown) in \(window): \(parts) at \(column), \(row), not \(wanted)")
                }
            }
            pixels.draw(nil)
            #expect((0..<count).allSatisfy { base.load(fromByteOffset: $0, as: UInt8.self) == 0 })
        }
    }
}
