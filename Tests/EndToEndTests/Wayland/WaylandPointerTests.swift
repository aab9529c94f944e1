import CaptureLink
import MediaTypes
import TestScene
import TestSupport
import Testing

extension EndToEnd {
    /// What becomes of the pointer that a compositor reports beside its pictures. Here, `faulty_cast.py` reports it,
    /// without a fault.
    @Suite("The pointer of a Wayland desktop", .enabled(if: EndToEnd.isPossible && WaylandDesktop.isAvailable))
    struct WaylandPointerTests {
        private static let red = SceneColor(255, 0, 0)
        private static let green = SceneColor(0, 255, 0)
        private static let blue = SceneColor(0, 0, 255)
        private let desktop: WaylandDesktop

        init() throws { desktop = try WaylandDesktop(size: PictureSize(width: 640, height: 480)) }

        /// Has the desktop send one buffer. With a size of 0 there is no picture in it.
        private func send(_ words: String) throws { try desktop.tell("fault send \(words)") }

        /// A capture that has shown a picture in blue, whose reader wants the pointer in this way.
        private func capture(_ mode: PointerMode, _ options: [String] = []) throws -> LinkedCapture {
            try send("color=0000ff")
            let capture = try LinkedCapture(source: options, prefix: desktop.prefix())
            try capture.wait(for: Self.blue, at: 20, 20, "the first picture")
            try capture.send(.pointerMode(mode))
            return capture
        }

        /// Waits until the capture has said last that the pointer is there.
        private func waitForPlace(_ x: Int, _ y: Int, isVisible: Bool = true, _ capture: LinkedCapture) throws {
            let place = PointerPosition(x: x, y: y, isVisible: isVisible)
            try capture.wait(for: "\(place)") { capture.pointer == place }
        }

        /// A shape of which only the upper left quarter can be seen.
        private func shape(_ size: PictureSize, hotX: Int, hotY: Int, _ pixel: UInt32) throws -> CursorImage {
            let pixels = (0..<size.width * size.height).map { index in
                index % size.width < size.width / 2 && index / size.width < size.height / 2 ? pixel : 0
            }
            return try #require(CursorImage(size: size, hotX: hotX, hotY: hotY, pixels: pixels))
        }

        @Test("is told with its place and its shape, until it is hidden, and is in no picture")
        func told() throws {
            let capture = try capture(.apart)
            try send("color=00ff00 cursor=1,201,101 shape=16x12,6,4,ff0000")
            try waitForPlace(201, 101, capture)
            let first = try shape(PictureSize(width: 16, height: 12), hotX: 6, hotY: 4, 0xFFFF_0000)
            try capture.wait(for: "the shape") { capture.shapes == [first] }
            try capture.wait(for: Self.green, at: 200, 100, "the picture under the pointer")
            #expect(capture.taken.last?.notice.isPointerDrawn == false)

            let places = [(0, 479, true), (639, 0, true), (640, 100, false), (100, -1, false), (30, 40, true)]
            for (x, y, isVisible) in places {
                try send("size=0 cursor=1,\(x),\(y)")
                try waitForPlace(x, y, isVisible: isVisible, capture)
            }
            try send("size=0 cursor=0,0,0")
            try waitForPlace(30, 40, isVisible: false, capture)
            try send("size=0 cursor=1,31,41")
            try waitForPlace(31, 41, capture)
            // The shape that is known isn't told again.
            #expect(capture.shapes == [first])

            // A program hides the pointer, and shows another one.
            try send("size=0 cursor=1,31,41 shape=0x0,0,0,000000")
            try waitForPlace(31, 41, isVisible: false, capture)
            try capture.wait(for: "no shape") { capture.shapes.last?.pixels.isEmpty == true }
            try send("size=0 cursor=1,31,41 shape=8x8,0,7,0000ff")
            try waitForPlace(31, 41, capture)
            let second = try shape(PictureSize(width: 8, height: 8), hotX: 0, hotY: 7, 0xFF00_00FF)
            try capture.wait(for: "the other shape") { capture.shapes.last == second }
            #expect(capture.shapes.count == 3)
        }

        @Test("is told where it is in the visible part of the picture, even if only that part moves")
        func crop() throws {
            let capture = try capture(.apart)
            try send("color=00ff00 crop=100,50,320,240 cursor=1,150,90 shape=16x12,6,4,ff0000")
            try waitForPlace(50, 40, capture)
            try send("color=00ff00 crop=120,60,320,240 cursor=1,150,90")
            try waitForPlace(30, 30, capture)
            try send("color=00ff00 crop=120,60,320,240 cursor=1,110,90")
            try waitForPlace(-10, 30, isVisible: false, capture)
            // Of a rotated picture, the place is one of the upright picture, which is 480x640.
            try send("color=00ff00 transform=3 cursor=1,400,600")
            try waitForPlace(400, 600, capture)
        }

        @Test("is as small, and where it is, in pictures that are scaled, whether it is told or drawn")
        func scaled() throws {
            let capture = try capture(.apart, ["--scale", "50%"])
            try send("color=00ff00 cursor=1,201,101 shape=32x24,8,4,ff0000")
            try waitForPlace(100, 50, capture)
            let half = try shape(PictureSize(width: 16, height: 12), hotX: 4, hotY: 2, 0xFFFF_0000)
            try capture.wait(for: "the shape") { capture.shapes == [half] }
            try capture.wait(for: Self.green, at: 100, 50, "the picture under the pointer")
            try capture.send(.pointerMode(.drawn))
            try capture.wait(for: Self.red, at: 100, 50, "the pointer")
            try capture.wait(for: Self.green, at: 110, 50, "the picture on its right")
            #expect(capture.pictureSize == PictureSize(width: 320, height: 240))
        }

        @Test("is drawn into the pictures of a reader that wants that, where it is, until it is hidden")
        func drawn() throws {
            let capture = try capture(.drawn)
            /// Waits for the pointer's 8x8 red pixels, whose top left corner is there, and for the picture around them.
            func waitForPointer(at x: Int, _ y: Int, on color: SceneColor) throws {
                try capture.wait(for: Self.red, at: x + 4, y + 4, "the pointer")
                for (x, y) in [(x - 4, y + 4), (x + 12, y + 4), (x + 4, y - 4), (x + 4, y + 12)] {
                    try capture.wait(for: color, at: x, y, "the picture beside the pointer")
                }
            }
            try send("color=00ff00 cursor=1,204,106 shape=16x16,4,6,ff0000")
            try waitForPointer(at: 200, 100, on: Self.green)
            try send("size=0 cursor=1,304,246")
            try waitForPointer(at: 300, 240, on: Self.green)
            try capture.wait(for: Self.green, at: 204, 104, "the picture where the pointer was")
            try send("color=0000ff cursor=1,304,246")
            try waitForPointer(at: 300, 240, on: Self.blue)

            try send("size=0 cursor=1,304,246 shape=16x16,4,6,ffffff")
            try capture.wait(for: SceneColor(255, 255, 255), at: 304, 244, "the other shape")
            // It reaches beyond the corner of the picture.
            try send("size=0 cursor=1,2,3 shape=16x16,4,6,ff0000")
            try capture.wait(for: Self.red, at: 2, 1, "the pointer in the corner")
            try send("size=0 cursor=0,0,0")
            try capture.wait(for: Self.blue, at: 2, 1, "the picture without the pointer")

            try send("color=00ff00 crop=100,50,320,240 cursor=1,304,246")
            try waitForPointer(at: 200, 190, on: Self.green)
            #expect(capture.taken.last?.notice.isPointerDrawn == true)
            #expect(capture.pointerMessages == 0 && capture.shapes.isEmpty)
            // A reader that wants to draw it itself from now on is told all about it, although it rests.
            try capture.send(.pointerMode(.apart))
            try waitForPlace(204, 196, capture)
            try capture.wait(for: "the shape") { !capture.shapes.isEmpty }
            try capture.wait(for: Self.green, at: 204, 194, "the picture without the pointer")
        }
    }
}
