import MediaTypes
import TestScene
import TestSupport
import Testing

extension EndToEnd {
    @Suite("A snapshot of a share that nobody watches", .enabled(if: EndToEnd.isPossible))
    struct UnwatchedSnapshotTests {
        private static let size = PictureSize(width: 640, height: 480)
        private static let cell = 16

        @Test("shows the screen as it is now, and as fine as it gets, also where the rate has room for little")
        func fineness() throws {
            let screen = try VirtualScreen(Self.size)
            let client = try DisplayClient(screen.name)
            let noise = try NoiseDrawing(on: screen, seed: 5)
            noise.draw()
            let share = try RunningProgram(
                "screenrelay", ["share", "--display", screen.name, "--bitrate", "2M"] + LinkSocket.hostOptions)
            let link = try share.printedLink()
            var random = SeededRandom(seed: 6)
            for _ in 0..<2 {
                // This takes more than the rate allows, so that what follows has to wait.
                noise.draw()
                _ = try LinkSnapshot(of: link)
                let shades = try paint(client, &random)
                let picture = try LinkSnapshot(of: link).picture
                let errors = shades.map { place, shade in
                    abs(Int(picture.meanColor(of: place)?.green ?? 0) - shade)
                }
                let mean = Double(errors.reduce(0, +)) / Double(errors.count)
                print("shades of an unwatched screen: off by \(mean) on average, by \(errors.max() ?? 0) at most")
                #expect(mean < 1 && errors.max() ?? 255 < 12)
            }
        }

        /// Fills the screen with cells of grey, and returns the place and the shade of the middle of each.
        private func paint(_ client: DisplayClient, _ random: inout SeededRandom) throws -> [(SceneRectangle, Int)] {
            var shades: [(SceneRectangle, Int)] = []
            client.waits = false
            for y in stride(from: 0, to: Self.size.height, by: Self.cell) {
                for x in stride(from: 0, to: Self.size.width, by: Self.cell) {
                    let shade = UInt32.random(in: 0...255, using: &random)
                    client.fill(
                        PixelRectangle(x: x, y: y, width: Self.cell, height: Self.cell), color: shade * 0x010101)
                    shades.append((SceneRectangle(x + 4, y + 4, 8, 8), Int(shade)))
                }
            }
            // Not where the server puts its pointer; and this call waits for all of it.
            client.waits = true
            client.warp(to: (0, 0))
            return shades.filter { $0.0.x > 48 || $0.0.y > 48 }
        }
    }
}
