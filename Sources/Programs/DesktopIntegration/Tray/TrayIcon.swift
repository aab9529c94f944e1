/// The pixels of the tray icon, for desktops where the icon of the package isn't installed: the page's icon in blue
/// while the screen is shared, and in grey with two bars during a pause (packaging/screenrelay-paused.svg).
enum TrayIcon {
    /// The sides in pixels, for usual screens and for those with twice as many pixels.
    static let sides = [24, 48]

    private typealias Color = (red: Double, green: Double, blue: Double)
    private static let white: Color = (255, 255, 255)
    private static let blue: Color = (0x2F, 0x6F, 0xED)
    private static let grey: Color = (0x6B, 0x72, 0x80)
    /// Each pixel is the mean of this many samples in each direction.
    private static let samples = 4

    /// The pixels row by row, each with the bytes alpha, red, green and blue, not premultiplied: ARGB32 in network byte
    /// order, as StatusNotifierItem has it.
    static func pixels(side: Int, isPaused: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(side * side * 4)
        // The drawing has 32 units in each direction.
        let step = 32 / Double(side * samples)
        for row in 0..<side {
            for column in 0..<side {
                var (red, green, blue, count) = (0.0, 0.0, 0.0, 0.0)
                for sample in 0..<(samples * samples) {
                    let x = (Double(column * samples + sample % samples) + 0.5) * step
                    let y = (Double(row * samples + sample / samples) + 0.5) * step
                    guard let color = Self.drawing(x, y, isPaused: isPaused) else { continue }
                    (red, green, blue) = (red + color.red, green + color.green, blue + color.blue)
                    count += 1
                }
                let alpha = count / Double(samples * samples) * 255
                let divisor = max(count, 1)
                for value in [alpha, red / divisor, green / divisor, blue / divisor] {
                    bytes.append(UInt8(max(0, min(255, value.rounded()))))
                }
            }
        }
        return bytes
    }

    /// The colour at a place of the drawing; nil outside of it.
    private static func drawing(_ x: Double, _ y: Double, isPaused: Bool) -> Color? {
        let isInMark = isPaused ? isInBars(x, y) : isInTriangle(x, y)
        if isInMark { return white }
        guard isInScreen(x, y) || isInFoot(x, y) else { return nil }
        return isPaused ? grey : blue
    }

    /// A rectangle from 2, 5 to 30, 24 with corners of radius 4.
    private static func isInScreen(_ x: Double, _ y: Double) -> Bool {
        let (across, down) = (max(6 - x, x - 26, 0), max(9 - y, y - 20, 0))
        return across * across + down * down <= 16
    }

    /// A line from 11, 28 to 21, 28 with a width of 2.5 and round ends.
    private static func isInFoot(_ x: Double, _ y: Double) -> Bool {
        let (across, down) = (max(11 - x, x - 21, 0), y - 28)
        return across * across + down * down <= 1.25 * 1.25
    }

    /// A triangle with the corners 13, 10.5 and 13, 18.5 and 20, 14.5.
    private static func isInTriangle(_ x: Double, _ y: Double) -> Bool {
        x >= 13 && x <= 20 && abs(y - 14.5) <= (20 - x) * 4 / 7
    }

    private static func isInBars(_ x: Double, _ y: Double) -> Bool {
        y >= 10 && y <= 19 && (x >= 12 && x <= 15 || x >= 17 && x <= 20)
    }
}
