import MediaTypes
import TestSupport
import Testing

@Suite("Samples by which a viewer checks a picture")
struct PictureSamplesTests {
    /// A picture whose planes have one shade each.
    private func picture(
        _ width: Int, _ height: Int, _ luma: UInt8 = 50, _ blue: UInt8 = 100, _ red: UInt8 = 200
    ) -> I420Picture {
        let chroma = (width + 1) / 2 * ((height + 1) / 2)
        return I420Picture(
            size: PictureSize(width: width, height: height),
            bytes: [UInt8](repeating: luma, count: width * height) + [UInt8](repeating: blue, count: chroma)
                + [UInt8](repeating: red, count: chroma), isFullRange: false, matrix: .bt601, captureTime: nil)
    }

    @Test("stand behind the index, the filter and the errors, in the order of the Halton sequence over all planes")
    func bytes() {
        // Every third place is in chroma, by turns in its upper and its lower plane.
        let samples = PictureSamples(of: picture(640, 480), at: SampleIndex(rawValue: 0))
        #expect(samples.bytes == [0x80, 20, 0x11, 50, 50, 100, 50, 50, 200, 50, 50, 100, 50, 50, 200, 50])
        #expect(samples.isAbsolute)
        let later = PictureSamples(of: picture(640, 480), at: SampleIndex(rawValue: 128 * 5 + 13))
        #expect(later.bytes[0] == 13 && !later.isAbsolute)
        let block = PictureSamples(of: picture(640, 480), at: SampleIndex(rawValue: 128 * 5))
        #expect(block.bytes[0] == 0x85 && block.isAbsolute)
    }

    @Test("change with what is near their places alone")
    func places() {
        var changed = picture(640, 480)
        // The place after the first one is half of the height down, and a third of the planes' width along.
        for x in 317...323 { for y in 237...243 { changed[.luma, x, y] = 250 } }
        let before = PictureSamples(of: picture(640, 480), at: SampleIndex(rawValue: 0)).bytes
        let after = PictureSamples(of: changed, at: SampleIndex(rawValue: 0)).bytes
        #expect(before.indices.filter { before[$0] != after[$0] } == [4])
        #expect(after[4] > 120)
        changed = picture(640, 480)
        changed[.luma, 320 + 6, 240] = 250
        #expect(PictureSamples(of: changed, at: SampleIndex(rawValue: 0)).bytes == before)
    }

    @Test("exist of every size", arguments: [(1, 1), (2, 1), (1, 2), (3, 5), (16, 16), (4095, 3)])
    func sizes(width: Int, height: Int) {
        for index in [0, 1, 13, 0x3FFF] as [UInt16] {
            let samples = PictureSamples(of: picture(width, height, 9, 9, 9), at: SampleIndex(rawValue: index))
            #expect(samples.bytes[3...].allSatisfy { $0 == 9 })
        }
    }

    @Test("are the first of a block and others of it by turns, and the first for a key frame")
    func indices() {
        var index = SampleIndex.beforeFirst
        let places = (0..<300).map { number in
            index = index.next(isKeyFrame: number == 5)
            return Int(index.rawValue)
        }
        #expect(places[..<8] == [0, 13, 128, 128 + 26, 256, 384, 384 + 52, 512])
        #expect(places[8...].contains(0) && places.allSatisfy { $0 <= 0x3FFF && $0 % 128 + 13 <= 128 })
        #expect(Set(places.map { $0 % 128 }) == Set((0...8).map { $0 * 13 }))
        // A receiver that knows no more than the last block finds each place.
        for (last, next) in zip(places, places.dropFirst()) where next % 128 != 0 {
            #expect(last % 128 == 0 && next / 128 == last / 128 && next % 128 >= last % 128 + 13)
        }
    }

    @Test("find damage of 64 by 64 pixels in a 720p picture within a minute, nine times in ten")
    func reach() {
        let right = picture(1280, 720)
        var index = SampleIndex.beforeFirst
        let indices = (0..<256).map { _ in
            index = index.next(isKeyFrame: false)
            return index
        }
        let expected = indices.map { PictureSamples(of: right, at: $0) }
        var random = SeededRandom(seed: 64)
        var waits: [Int] = []
        for _ in 0..<60 {
            var damaged = right
            let x = Int.random(in: 0..<1280 - 64, using: &random)
            let y = Int.random(in: 0..<720 - 64, using: &random)
            for row in y..<y + 64 { for column in x..<x + 64 { damaged[.luma, column, row] = 200 } }
            let first = Int.random(in: 0..<256, using: &random)
            let wait = (0..<60).first { number in
                let place = (first + number) % 256
                return PictureSamples(of: damaged, at: indices[place]) != expected[place]
            }
            waits.append(wait ?? 60)
        }
        #expect(waits.count { $0 < 60 } >= 54, "\(waits.sorted())")
        #expect(waits.sorted()[30] <= 20)
    }

    @Test("are set once, and stay")
    func once() {
        let first = PictureSamples(of: picture(16, 16), at: SampleIndex(rawValue: 0))
        let check = PictureCheck()
        #expect(check.samples == nil)
        check.set(first)
        check.set(PictureSamples(of: picture(16, 16, 7), at: SampleIndex(rawValue: 0)))
        #expect(check.samples == first)
    }

    @Test("are wanted of each key frame, and of one frame a second")
    func chosen() {
        var checks = PictureChecks()
        let keys: Set = [0, 50]
        let taken = (0..<100).filter {
            checks.takes(isKeyFrame: keys.contains($0), arrival: .zero + .milliseconds(Int64($0) * 33))
        }
        #expect(taken == [0, 31, 50, 81])
    }
}
