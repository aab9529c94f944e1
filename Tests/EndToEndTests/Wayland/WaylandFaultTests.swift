import CaptureLink
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEnd {
    /// A desktop whose pictures are those of `faulty_cast.py` instead of a compositor's.
    @Suite("A faulty Wayland desktop", .enabled(if: EndToEnd.isPossible && WaylandDesktop.isAvailable))
    struct WaylandFaultTests {
        private static let blue = SceneColor(0, 0, 255)
        private static let unusable = "what the desktop sends can't be used: "
        private let desktop: WaylandDesktop

        init() throws { desktop = try WaylandDesktop(size: PictureSize(width: 640, height: 480)) }

        /// A capture that has shown a correct picture in blue.
        private func capture() throws -> LinkedCapture {
            try desktop.tell("fault send color=0000ff")
            let capture = try LinkedCapture(source: [], prefix: desktop.prefix())
            try capture.wait(for: Self.blue, at: 320, 240, "the first picture")
            return capture
        }

        @Test("each fault of a picture or a pointer is refused by name, and the next correct picture is shown")
        func refused() throws {
            let faults = [
                ("stride=16", "rows of 16 bytes for pixels of 2560"),
                ("stride=-2560", "rows of -2560 bytes for pixels of 2560"),
                ("size=100", "pixels up to byte 1228800 of 100"),
                ("offset=4000000000", "pixels up to byte 4001228800 of 1228800"),
                ("crop=600,400,100,100", "a visible part of 100x100 at 600, 400 of a picture of 640x480"),
                ("transform=8", "a picture with the unknown transform 8"),
                ("pointer=4000x4000,16000", "a pointer of 4000x4000; each side may have 384 pixels"),
                ("pointer=384x384,1000000", "a pointer whose pixels aren't in the "),
            ]
            let capture = try capture()
            for (index, (fault, text)) in faults.enumerated() {
                try desktop.tell("fault send \(fault)")
                try capture.wait(for: text) { capture.program.log.contains(Self.unusable + text) }
                let color = SceneColor(255, UInt8(index * 32), 0)
                let digits = String(0xFF_0000 | index * 32 << 8, radix: 16)
                try desktop.tell("fault send color=\(digits)")
                try capture.wait(for: color, at: 639, 479, "the picture after \(fault)")
            }
            #expect(capture.program.stop() == .exited(0))
        }

        @Test("a picture that is rotated or mirrored is shown upright")
        func transforms() throws {
            let white = SceneColor(255, 255, 255)
            let capture = try capture()
            // The corner in which viewers see what is at the top left of the buffer: 0 and 1 at the top, 2 and 3 below.
            for (transform, corner) in [0, 1, 3, 2, 1, 0, 2, 3].enumerated() {
                let color = SceneColor(0, UInt8(transform * 24), 0)
                let digits = String(0x1_00_00_00 | transform * 24 << 8, radix: 16).dropFirst()
                try desktop.tell("fault send color=\(digits) transform=\(transform) box=0,0,160,60")
                let isOnSide = transform % 2 == 1
                let size = isOnSide ? PictureSize(width: 480, height: 640) : PictureSize(width: 640, height: 480)
                try capture.wait(for: color, at: size.width / 2, size.height / 2, "transform \(transform)")
                #expect(capture.pictureSize == size)
                // The box is as long and as high as a rotated one, and in one corner only.
                let (far, near) = (isOnSide ? (50, 150) : (150, 50), (10, 10))
                for place in 0..<4 {
                    for (x, y) in [far, near] {
                        let across = place % 2 == 0 ? x : size.width - 1 - x
                        let along = place < 2 ? y : size.height - 1 - y
                        let expected = place == corner ? white : color
                        try capture.wait(for: expected, at: across, along, "corner \(place) of \(transform)")
                    }
                }
            }
        }

        @Test("the visible part of a picture is all that is shown, and its damage is where it is")
        func crop() throws {
            let green = SceneColor(0, 255, 0)
            let capture = try capture()
            try desktop.tell("fault send color=00ff00 crop=100,50,320,240 box=100,50,40,30")
            try capture.wait(for: green, at: 319, 239, "the visible part")
            #expect(capture.pictureSize == PictureSize(width: 320, height: 240))
            try capture.wait(for: SceneColor(255, 255, 255), at: 35, 25, "its top left corner")
            try capture.wait(for: green, at: 48, 38, "what is beside that")
            try desktop.tell("fault send color=ff0000 crop=100,50,320,240 damage=100,50,64,64")
            try capture.wait(for: SceneColor(255, 0, 0), at: 32, 32, "the damaged corner")
            #expect(try capture.color(160, 120)?.isClose(to: green) == true)
        }

        @Test("damage outside the picture hides no change, and a file that is too short ends nothing")
        func harmless() throws {
            let capture = try capture()
            try desktop.tell("fault send color=ff0000 damage=-5,-5,4000000000,4000000000")
            try capture.wait(for: SceneColor(255, 0, 0), at: 0, 0, "the damaged picture")
            try desktop.tell("fault send color=00ff00 file=4096")
            try capture.wait(for: "the warning") {
                capture.program.log.contains(Self.unusable + "a file of 4096 bytes for a buffer of 1228800")
            }
            try desktop.tell("fault send color=0000ff")
            try capture.wait(for: Self.blue, at: 320, 240, "the next picture")
        }

        @Test("a buffer with only the pointer is no picture; after a lost picture, all of the next one is compared")
        func onlyPointer() throws {
            let red = SceneColor(255, 0, 0)
            let capture = try capture()
            try desktop.tell("fault send color=ff0000 damage=0,0,640,480")
            try capture.wait(for: red, at: 320, 240, "the damaged picture")
            // SPA_CHUNK_FLAG_CORRUPTED, as KWin marks them, and no content, as in mutter.
            for mark in ["flags=1", "size=0"] {
                try desktop.tell("fault send color=00ff00 \(mark)")
                try desktop.tell("fault send color=0000ff damage=0,0,64,64")
                try capture.wait(for: Self.blue, at: 16, 16, "the damaged corner")
                #expect(try capture.color(320, 240)?.isClose(to: red) == true)
                try desktop.tell("fault send color=ff0000 damage=0,0,64,64")
                try capture.wait(for: red, at: 16, 16, "the corner as it was")
            }
            // SPA_META_HEADER_FLAG_CORRUPTED
            try desktop.tell("fault send color=00ff00 header=2")
            try desktop.tell("fault send color=0000ff damage=0,0,64,64")
            try capture.wait(for: Self.blue, at: 320, 240, "the picture after the lost one")
        }

        @Test("a desktop that sends only the pointer is asked, without a dialog, to draw it into its pictures")
        func pointerAlone() throws {
            try desktop.tell("fault send size=0 repeat=1")
            // Without a home, nothing is kept in a file.
            let share = try RunningProgram("screenrelay", ["share"] + LinkSocket.hostOptions, prefix: desktop.prefix())
            try eventually(
                "the second question",
                holds: { desktop.count(of: "select types=3 cursor=2 persist=2 restores=1") == 1 })
            #expect(desktop.count(of: "select types=3 cursor=4 persist=2 restores=0") == 1)
            try desktop.tell("fault send color=0000ff")
            let link = try share.printedLink()
            try eventually("the picture") { try LinkSnapshot(of: link).isFilled(with: Self.blue) ? () : nil }
            try share.waitForLog("sends only the pointer, and no picture, so the desktop is asked to draw the pointer")
            try eventually("the end of the first session", holds: { desktop.count(of: "closed") == 1 })
            #expect(share.stop() == .exited(0))
        }

        @Test("a few rows that change after a rest are shown, even if nothing is painted after them")
        func fewRows() throws {
            let capture = try capture()
            for row in [34, 130, 256, 388] {
                // Meanwhile, the cast repeats the picture.
                try capture.read(for: .milliseconds(500))
                try desktop.tell("fault send color=0000ff lines=\(row),4")
                try capture.wait(for: SceneColor(255, 255, 255), at: 320, row + 2, "the rows")
                try desktop.tell("fault send color=0000ff")
                try capture.wait(for: Self.blue, at: 320, row + 2, "the picture without them")
            }
        }

        @Test("another size is followed, and one that is too large ends capture with 69")
        func sizes() throws {
            let capture = try capture()
            try desktop.tell("fault format 8 320x240")
            try desktop.tell("fault send color=ff0000")
            try capture.wait(for: SceneColor(255, 0, 0), at: 160, 120, "the smaller picture")
            #expect(capture.pictureSize == PictureSize(width: 320, height: 240))
            try desktop.tell("fault format 8 16384x16384")
            try expectEnd(of: capture, "the desktop sends a picture of 16384x16384; each side may have 1 to 16384 ")
        }

        @Test("an end in the middle ends capture with 69")
        func ended() throws {
            let capture = try capture()
            try desktop.tell("end cast")
            try expectEnd(of: capture, "the desktop has ended the screen cast")
        }

        // 81 is one with 10 bits per channel.
        @Test(
            "a size of 0, and a desktop that offers only formats that aren't asked for, end a share with 69, by name",
            arguments: [
                ("8 0x0", "a picture of 0x0; each side may have 1 to 16384 pixels"),
                ("2 640x480", "I420; BGRx, BGRA, RGBx and RGBA can be read"),
                ("81 640x480", "xBGR_210LE; BGRx, BGRA, RGBx and RGBA can be read"),
                ("8 640x480 gpu", "a picture in the memory of a graphics card (DMA-BUF)"),
            ])
        func noFormat(format: String, name: String) throws {
            try desktop.tell("fault format \(format)")
            let reason = try reasonOfRefusal()
            #expect(reason.contains("--source wayland: the desktop sends ") && reason.contains(name), "\(reason)")
        }

        @Test("memory of a graphics card that isn't asked for ends a share with 69, and is named")
        func cardMemory() throws {
            // SPA_DATA_DmaBuf
            try desktop.tell("fault memory 3")
            try desktop.tell("fault send color=0000ff")
            let reason = try reasonOfRefusal()
            #expect(reason.hasSuffix("sends no picture: a picture in the memory of a graphics card (DMA-BUF)"))
        }

        /// Starts a share, which has to end with 69 and one line that says why; returns that line.
        private func reasonOfRefusal() throws -> String {
            let share = try RunningProgram("screenrelay", ["share"] + LinkSocket.hostOptions, prefix: desktop.prefix())
            let status = try eventually("the end of the share") { share.child.poll() }
            share.child.errorOutput?.waitForEnd(within: .seconds(2))
            #expect(status == .exited(69))
            let lines = share.log.split(separator: "\n").filter { $0.contains("--source wayland: ") }
            #expect(lines.count == 1, "\(share.log)")
            let reason = try #require(lines.first)
            #expect(reason.hasPrefix("screenrelay-capture: "))
            return String(reason)
        }

        private func expectEnd(of capture: LinkedCapture, _ text: String) throws {
            try capture.wait(for: "the end") { capture.end != nil }
            let status = try eventually("the end of capture") { capture.program.child.poll() }
            capture.program.child.errorOutput?.waitForEnd(within: .seconds(2))
            #expect(status == .exited(69))
            #expect(capture.program.log.contains("--source wayland: " + text), "\(capture.program.log)")
        }
    }
}
