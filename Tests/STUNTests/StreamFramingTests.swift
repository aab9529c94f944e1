import TestSupport
import Testing

@testable import STUN

@Suite("Datagrams in a stream of bytes")
struct StreamFramingTests {
    private let datagrams: [[UInt8]] = [[1], [], [2, 3, 4], [UInt8](repeating: 5, count: 300), [], [6, 7]]

    private var bytes: [UInt8] {
        datagrams.flatMap { [UInt8($0.count >> 8), UInt8($0.count & 0xFF)] + $0 }
    }

    /// The datagrams that come out if the bytes come in these pieces.
    private func read(_ pieces: [ArraySlice<UInt8>], longest: Int = 300) throws -> [[UInt8]] {
        var framing = StreamFraming(maxLength: longest)
        var result: [[UInt8]] = []
        for piece in pieces {
            var rest = piece
            while let datagram = try framing.next(from: &rest) { result.append(Array(datagram)) }
            #expect(rest.isEmpty)
            #expect(framing.keptBytes <= 2 + longest)
        }
        #expect(framing.keptBytes == 0, "all are whole")
        return result
    }

    @Test("datagrams come out whole, however the stream is cut")
    func cuts() throws {
        let bytes = bytes
        #expect(try read([bytes[...]]) == datagrams)
        #expect(try read(bytes.indices.map { bytes[$0...$0] }) == datagrams)
        for cut in 0...bytes.count { #expect(try read([bytes[..<cut], bytes[cut...]]) == datagrams) }
        for seed in UInt64(1)...50 {
            var random = SeededRandom(seed: seed)
            var pieces: [ArraySlice<UInt8>] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...100, using: &random))
                pieces.append(piece)
                rest = rest.dropFirst(piece.count)
            }
            #expect(try read(pieces) == datagrams)
        }
    }

    @Test("a length beyond the longest datagram is refused before anything of it is kept, however it comes")
    func tooLong() {
        for cut in 0...2 {
            var framing = StreamFraming(maxLength: 2048)
            let bytes: [UInt8] = [0x08, 0x01, 9]
            #expect(throws: StreamFraming.DatagramTooLongError.self) {
                for piece in [bytes[..<cut], bytes[cut...]] {
                    var rest = piece
                    while try framing.next(from: &rest) != nil {}
                }
            }
            #expect(framing.keptBytes <= 2)
        }
    }
}
