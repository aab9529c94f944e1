import H264
import MediaTypes
import Testing

@Suite("Pictures that come in parts")
struct PicturesInPartsTests {
    private static let headers: [[UInt8]] = [[0x67, 66, 0, 30, 1], [0x68, 1]]

    /// A frame of these slices, each of whose first bytes says whether it is the picture's first; with parameter sets.
    private func frame(_ slices: [UInt8]..., isKey: Bool = true) -> CodedFrame {
        let units = (isKey ? Self.headers : []) + slices.map { [isKey ? 0x65 : 0x41] + $0 }
        var bytes: [UInt8] = []
        var ranges: [Range<Int>] = []
        for unit in units {
            bytes += [0, 0, 0, 1]
            ranges.append(bytes.count..<bytes.count + unit.count)
            bytes += unit
        }
        return CodedFrame(h264: bytes, units: ranges, captureTime: nil)
    }

    /// The payloads of the slices of all frames that come out, each with the number of the frame that it began with.
    private func output(_ frames: [CodedFrame]) -> [[Int]] {
        var parts = PicturesInParts<Int>()
        var whole: [(frame: CodedFrame, tag: Int)] = []
        for (number, frame) in frames.enumerated() { whole += parts.add(frame, number) }
        whole += parts.finish()
        return whole.map { frame, tag in
            [tag]
                + frame.units.filter { frame.bytes[$0.lowerBound] & 31 <= 5 }.map {
                    Int(frame.bytes[$0.upperBound - 1])
                }
        }
    }

    @Test("are put together behind one set of headers, and whole ones stay as they are")
    func joined() throws {
        #expect(
            output([frame([0x80, 1]), frame([0x40, 2]), frame([0x80, 3], isKey: false)]) == [[0, 1, 2], [2, 3]])
        let three = [frame([0x80, 1]), frame([0x40, 2]), frame([0x20, 3]), frame([0x80, 4])]
        #expect(output(three) == [[0, 1, 2, 3], [3, 4]])
        #expect(output([frame([0x80, 1], [0x40, 2]), frame([0x80, 3])]) == [[0, 1, 2], [1, 3]])
        var parts = PicturesInParts<Int>()
        _ = parts.add(three[0], 0)
        _ = parts.add(three[1], 1)
        let joined = try #require(parts.finish().first).frame
        #expect(joined.units.map { joined.bytes[$0.lowerBound] } == [0x67, 0x68, 0x65, 0x65])
        #expect(joined.isRandomAccess && parts.haveCome)
    }

    @Test("hold back no key frame but the first where none comes in parts")
    func whole() {
        var parts = PicturesInParts<Int>()
        #expect(parts.add(frame([0x80, 1]), 0).isEmpty)
        #expect(parts.add(frame([0x80, 2], isKey: false), 1).map(\.tag) == [0, 1])
        #expect(parts.add(frame([0x80, 3]), 2).map(\.tag) == [2])
        #expect(!parts.haveCome && parts.finish().isEmpty)
    }

    @Test("are left out where the picture that they belong to has gone, and the next ones are put together")
    func stray() {
        var parts = PicturesInParts<Int>()
        _ = parts.add(frame([0x80, 1]), 0)
        _ = parts.add(frame([0x80, 2], isKey: false), 1)
        #expect(parts.add(frame([0x80, 3]), 2).map(\.tag) == [2])
        #expect(parts.add(frame([0x40, 4]), 3).isEmpty && parts.strayParts == 1)
        #expect(parts.add(frame([0x80, 5]), 4).isEmpty)
        #expect(parts.add(frame([0x40, 6]), 5).isEmpty && parts.strayParts == 1)
        #expect(parts.finish().map(\.tag) == [4])
    }
}
