import MediaTypes
import TestSupport
import Testing
import VideoEncoding

@testable import CaptureEngine

extension MotionSearchTests {
    @Test(
        "finds how far a text of a few words moved in both directions, though the same letters stand in many places",
        arguments: [(9, -14), (-20, 40), (42, 3), (4, -31), (60, -56), (-130, 20), (70, 120), (0, 61)])
    func words(x: Int, y: Int) {
        for seed in [5, 7, 11, 13] as [UInt64] {
            let before = Words(seed: seed)
            let after = before.moved(x: x, y: y, seed: seed + 1)
            var search = MotionSearch(columns: Words.width / 16, rows: Words.height / 16, reach: 500)
            let motion = search.find(
                in: after.planes, from: before.planes,
                area: PixelRectangle(x: 0, y: 0, width: Words.width, height: Words.height),
                selection: [UInt8](repeating: 1, count: Words.width * Words.height / 256)
            ) { $0 < $1 }
            #expect(motion.x == x && motion.y == y, "seed \(seed): \(motion.x), \(motion.y)")
        }
    }

    /// A text in a terminal: letters of 6x13 samples, of which only six words are made.
    private final class Words {
        static let width = 480
        static let height = 320
        private let samples: UnsafeMutablePointer<UInt8>
        private static let words = (0..<6).map { word in (0..<2 + word).map { (word * 7 + $0 * 5) % 12 } }

        init(seed: UInt64) {
            samples = .allocate(capacity: Self.width * Self.height * 3 / 2)
            samples.initialize(repeating: 128, count: Self.width * Self.height * 3 / 2)
            samples.update(repeating: 235, count: Self.width * Self.height)
            var random = SeededRandom(seed: seed)
            for line in stride(from: 2, through: Self.height - 13, by: 13) {
                var x = 4
                while random.next() % 12 != 0 {
                    let word = Self.words[Int(random.next() % 6)]
                    if x + word.count * 6 + 26 > Self.width { break }
                    for letter in word {
                        draw(letter, x, line)
                        x += 6
                    }
                    x += 6
                }
            }
        }

        deinit { samples.deallocate() }

        private func draw(_ letter: Int, _ x: Int, _ y: Int) {
            for row in 3..<11 {
                for column in 0..<5 where ((letter * 2_654_435_761 + row * 40_503 + column * 9_973) >> 3) % 5 < 2 {
                    samples[(y + row) * Self.width + x + column] = 16
                }
            }
        }

        var planes: SourcePlanes {
            let chroma = samples + Self.width * Self.height
            return SourcePlanes(
                luma: samples, blueDifference: chroma, redDifference: chroma + Self.width * Self.height / 4,
                lumaStride: Self.width, chromaStride: Self.width / 2)
        }

        /// What stood at `x`, `y` from each place; from beyond the edges another text comes in.
        func moved(x: Int, y: Int, seed: UInt64) -> Words {
            let moved = Words(seed: seed)
            for row in 0..<Self.height where (0..<Self.height).contains(row + y) {
                for column in 0..<Self.width where (0..<Self.width).contains(column + x) {
                    moved.samples[row * Self.width + column] = samples[(row + y) * Self.width + column + x]
                }
            }
            return moved
        }
    }
}
