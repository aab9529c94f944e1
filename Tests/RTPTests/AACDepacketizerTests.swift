import Testing

@testable import RTP

@Suite("Packets of AAC")
struct AACDepacketizerTests {
    private let generic = AACPacking.generic(sizeLength: 13, indexLength: 3, indexDeltaLength: 3)

    /// The header of a frame of this size, with the index 0.
    private func header(_ size: Int) -> [UInt8] { [UInt8(size >> 5), UInt8(size << 3 & 0xFF)] }

    @Test("have the frames that their headers tell")
    func frames() {
        var depacketizer = AACDepacketizer(generic)
        let packet: [UInt8] = [0, 32] + header(3) + header(2) + [1, 2, 3, 4, 5]
        #expect(depacketizer.frames(in: packet[...], isLast: true) == [[1, 2, 3], [4, 5]])
        // Behind other bytes.
        #expect(depacketizer.frames(in: ([9, 9] + packet)[2...], isLast: true) == [[1, 2, 3], [4, 5]])
    }

    @Test("may have a frame in parts, of which all are needed")
    func parts() {
        var depacketizer = AACDepacketizer(generic)
        let head: [UInt8] = [0, 16] + header(5)
        #expect(depacketizer.frames(in: (head + [1, 2])[...], isLast: false).isEmpty)
        #expect(depacketizer.frames(in: (head + [3, 4])[...], isLast: false).isEmpty)
        #expect(depacketizer.frames(in: (head + [5])[...], isLast: true) == [[1, 2, 3, 4, 5]])

        #expect(depacketizer.frames(in: (head + [1, 2])[...], isLast: false).isEmpty)
        depacketizer.skip()
        #expect(depacketizer.frames(in: (head + [5])[...], isLast: true).isEmpty)
        #expect(depacketizer.frames(in: (head + [1, 2, 3, 4, 5])[...], isLast: true) == [[1, 2, 3, 4, 5]])
    }

    @Test("of MP4A-LATM have frames after their sizes")
    func latm() {
        var depacketizer = AACDepacketizer(.latm)
        let long = [UInt8](repeating: 7, count: 300)
        #expect(depacketizer.frames(in: ([255, 45] + long)[...], isLast: true) == [long])
        #expect(depacketizer.frames(in: ([255, 45] + long.prefix(100))[...], isLast: false).isEmpty)
        #expect(depacketizer.frames(in: long[100...], isLast: true) == [long])
        #expect(depacketizer.frames(in: [2, 1, 2, 1, 9], isLast: true) == [[1, 2], [9]])
    }

    @Test("may be cut off anywhere", arguments: [0, 1])
    func cutOff(kind: Int) {
        let packing = kind == 0 ? generic : .latm
        let packet: [UInt8] = kind == 0 ? [0, 32] + header(3) + header(2) + [1, 2, 3, 4, 5] : [3, 1, 2, 3, 2, 4, 5]
        for count in 0..<packet.count {
            var depacketizer = AACDepacketizer(packing)
            let frames = depacketizer.frames(in: packet.prefix(count), isLast: true)
            #expect(frames.isEmpty || frames == [[1, 2, 3]])
        }
    }
}
