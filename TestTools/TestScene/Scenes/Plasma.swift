import Glibc

/// Pictures like those of a film: soft clouds of colour that flow in a loop, with the grain of a camera.
struct Plasma {
    /// The number of pictures in the loop.
    let frames: Int
    let width: Int
    let height: Int

    /// The number of levels of grain. A film as large as the screen has less grain in each pixel, so that both kinds
    /// cost an encoder about as many bytes as a real one.
    private var grainLevels: UInt32 { width * height > 1 << 20 ? 4 : 8 }

    /// Picture `index` of the loop.
    func sheet(_ index: Int) -> SceneSheet {
        let turn = 2 * Double.pi * Double(index % max(1, frames)) / Double(max(1, frames))
        // The waves are tables of whole numbers over the width and the height, so that each pixel needs only sums of
        // entries.
        let across = (0..<width).map { Self.wave(Double($0) * 0.021 + turn) }
        let across2 = (0..<width).map { Self.wave(Double($0) * 0.0093 - turn) }
        let down = (0..<height).map { Self.wave(Double($0) * 0.017 - turn + 1.3) }
        let down2 = (0..<height).map { Self.wave(Double($0) * 0.031 + turn + 4) }
        let ring = (0..<1024).map { Self.wave(Double($0) * 0.0123 * 2 + 2 * turn) }
        var noise: UInt32 = 0x9E37_79B9 &+ UInt32(truncatingIfNeeded: index)
        let levels = grainLevels
        let canvas = SceneCanvas(width: width, height: height) { x, y in
            noise = noise &* 1_664_525 &+ 1_013_904_223
            let grain = Int((noise >> 24) % levels) - Int(levels / 2)
            let diagonal = ring[(x + 2 * y) & 1023]
            let red = 128 + across[x] + down[y] + grain
            let green = 128 + across2[x] + diagonal / 2 + grain
            let blue = 128 + down2[y] + across2[x] / 2 + diagonal / 2 + grain
            return SceneColor(UInt8(clamping: red), UInt8(clamping: green), UInt8(clamping: blue)).packed
        }
        return SceneSheet(canvas)
    }

    private static func wave(_ angle: Double) -> Int { Int(56 * sin(angle)) }
}
