import CaptureLink
import MediaTypes
import TestSupport
import Testing

@testable import CaptureEngine

@Suite("The slate")
struct SlateTests {
    private static let states = SharingState.allCases

    /// A drawn plane, with room around it that must stay as it was.
    private struct Plane {
        static let margin = 3
        static let untouched: UInt8 = 7
        let size: PictureSize
        let stride: Int
        private var bytes: [UInt8]

        init(_ message: SharingState, of target: CaptureTarget = .screen, size: PictureSize) {
            self.size = size
            stride = size.width + Self.margin
            bytes = [UInt8](repeating: Self.untouched, count: stride * (size.height + 2))
            let stride = stride
            bytes.withUnsafeMutableBufferPointer { buffer in
                guard let base = buffer.baseAddress else { return }
                Slate.draw(
                    Slate.text(for: message, of: target), luma: base + stride, stride: stride, size: size)
            }
        }

        func row(_ y: Int) -> ArraySlice<UInt8> {
            bytes[(y + 1) * stride..<(y + 1) * stride + size.width]
        }

        var isFramed: Bool {
            for (index, byte) in bytes.enumerated() {
                let (y, x) = (index / stride - 1, index % stride)
                let isInside = (0..<size.height).contains(y) && x < size.width
                if !isInside, byte != Self.untouched { return false }
            }
            return true
        }

        /// The smallest rectangle that has all letters.
        var ink: PixelRectangle? {
            let rows = (0..<size.height).filter { row($0).contains(Slate.ink) }
            let columns = rows.flatMap { y in
                let row = Array(row(y))
                return [row.firstIndex(of: Slate.ink), row.lastIndex(of: Slate.ink)].compactMap { $0 }
            }
            guard let top = rows.first, let bottom = rows.last, let left = columns.min(), let right = columns.max()
            else {
                return nil
            }
            return PixelRectangle(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
        }
    }

    @Test(
        "its words stand in the middle, about a thirtieth of the height, within the picture",
        arguments: [
            PictureSize(width: 1920, height: 1080), PictureSize(width: 4096, height: 2160),
            PictureSize(width: 320, height: 200), PictureSize(width: 1080, height: 1920),
        ], states)
    func middle(size: PictureSize, message: SharingState) throws {
        let plane = Plane(message, size: size)
        let ink = try #require(plane.ink)
        #expect(abs(ink.x + ink.width / 2 - size.width / 2) <= size.width / 100)
        #expect(abs(ink.y + ink.height / 2 - size.height / 2) <= size.height / 100 + 1)
        #expect(ink.width <= size.width * 9 / 10)
        if size.width >= size.height { #expect((size.height / 45...size.height / 20).contains(ink.height)) }
        #expect(plane.isFramed)
        #expect((0..<size.height).allSatisfy { plane.row($0).allSatisfy { $0 == Slate.ground || $0 == Slate.ink } })
    }

    @Test("each state but live has words of its own, and every letter of them can be drawn")
    func words() {
        let size = PictureSize(width: 640, height: 360)
        let monitor = CaptureTarget.monitor("HDMI-1")
        let region = CaptureTarget.region(PixelRectangle(x: 0, y: 0, width: 10, height: 10))
        let window = CaptureTarget.window(.title("Notes"))
        let shown: [(SharingState, CaptureTarget)] = [
            (.paused, .screen), (.locked, .screen), (.windowHidden, window), (.windowHidden, monitor),
            (.windowHidden, region),
        ]
        let pictures = Set(
            shown.map {
                let plane = Plane($0, of: $1, size: size)
                return (0..<size.height).flatMap { Array(plane.row($0)) }
            })
        #expect(pictures.count == 5)
        #expect(Slate.text(for: .windowHidden, of: monitor) == "The monitor is off")
        // The source of a Wayland desktop is a monitor or a window that the user has chosen there.
        #expect(Slate.text(for: .windowHidden, of: .screen) == "The monitor is off")
        #expect(Slate.text(for: .windowHidden, of: region) == "The region is gone")
        for (state, target) in Self.states.flatMap({ [($0, window), ($0, monitor), ($0, region)] }) {
            for character in Slate.text(for: state, of: target).utf8 where character != UInt8(ascii: " ") {
                #expect(SlateLetters.rows(of: character) != 0, "\(character)")
            }
        }
    }

    @Test("any size is drawn, and nothing beside it is touched")
    func sizes() {
        for width in Array(0...9) + [16, 106, 107, 118, 119, 200, 641] {
            for height in Array(0...9) + [14, 15, 240, 481] {
                for state in Self.states {
                    let plane = Plane(state, size: PictureSize(width: width, height: height))
                    #expect(plane.isFramed, "\(width)x\(height)")
                }
            }
        }
        #expect(Plane(.paused, size: PictureSize(width: 2, height: 2)).ink == nil)
        #expect(Plane(.paused, size: PictureSize(width: 4096, height: 2160)).ink != nil)
    }

    @Test("a picture of negative or narrow measure is left alone")
    func impossible() {
        var byte: UInt8 = 9
        Slate.draw("Sharing is paused", luma: &byte, stride: 0, size: PictureSize(width: 1, height: 1))
        Slate.draw("Sharing is paused", luma: &byte, stride: 1, size: PictureSize(width: -1, height: 1))
        #expect(byte == 9)
    }
}
