import Testing

@testable import DesktopIntegration

@Suite("The pixels of the tray icon")
struct TrayIconTests {
    /// The bytes of a pixel: alpha, red, green and blue.
    private func pixel(_ x: Int, _ y: Int, of pixels: [UInt8], side: Int) -> [UInt8] {
        Array(pixels[((y * side + x) * 4)..<((y * side + x) * 4 + 4)])
    }

    @Test("a white triangle in blue means live, two white bars in grey mean paused, and outside it is transparent")
    func drawing() {
        let live = TrayIcon.pixels(side: 48, isPaused: false)
        let paused = TrayIcon.pixels(side: 48, isPaused: true)
        #expect(live.count == 48 * 48 * 4 && paused.count == live.count)
        let white: [UInt8] = [255, 255, 255, 255]
        for (icon, color) in [(live, [255, 0x2F, 0x6F, 0xED] as [UInt8]), (paused, [255, 0x6B, 0x72, 0x80])] {
            #expect(pixel(24, 12, of: icon, side: 48) == color)
            #expect(pixel(24, 42, of: icon, side: 48) == color)
            #expect(pixel(0, 0, of: icon, side: 48) == [0, 0, 0, 0])
            #expect(pixel(24, 39, of: icon, side: 48)[0] == 0)
        }
        // 16, 14.5 in the drawing is in the triangle, and between the bars.
        #expect(pixel(24, 21, of: live, side: 48) == white)
        #expect(pixel(24, 21, of: paused, side: 48) == [255, 0x6B, 0x72, 0x80])
        #expect(pixel(20, 21, of: paused, side: 48) == white)
        #expect(TrayIcon.pixels(side: 24, isPaused: false).count == 24 * 24 * 4)
    }
}
