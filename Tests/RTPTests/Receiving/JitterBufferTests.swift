import MediaTypes
import RTP
import TestSupport
import Testing

struct ReceptionBufferTests {
    private let start = MonotonicTime.zero + .seconds(100)

    private func packet(_ number: Int, count: Int = 10) throws -> RTPPacket {
        var bytes: [UInt8] = []
        RTPPacketHeader(
            marker: false, payloadType: PayloadType(96), sequenceNumber: SequenceNumber(0).advanced(by: number),
            timestamp: RTPTimestamp(0), ssrc: SSRC(1)
        ).write(into: &bytes)
        return try RTPPacket(parsing: (bytes + [UInt8](repeating: 1, count: count))[...])
    }

    private func numbers(_ packets: [RTPPacket]) -> [Int] { packets.map { Int($0.header.sequenceNumber.rawValue) } }

    @Test("packets in order come out at once, over the wrap of their numbers")
    func inOrder() throws {
        var buffer = JitterBuffer()
        for number in 65530..<65545 {
            buffer.insert(try packet(number), now: start)
            #expect(numbers(buffer.take(now: start)) == [number % 65536])
        }
        #expect(buffer.deadline == .distantFuture)
        #expect(buffer.requests(now: start).isEmpty)
    }

    @Test("packets that overtake each other come out in order, each once, and nothing is asked for")
    func reordered() throws {
        var buffer = JitterBuffer()
        var out: [Int] = []
        for number in [65534, 0, 65535, 65535, 0, 2, 1, 65534] {
            buffer.insert(try packet(number), now: start)
            out += numbers(buffer.take(now: start))
            #expect(buffer.requests(now: start).isEmpty)
        }
        #expect(out == [65534, 65535, 0, 1, 2])
        #expect(buffer.lostPackets == 0)
    }

    @Test("what is missing is asked for four times at most, and given up after 300 ms")
    func missing() throws {
        var buffer = JitterBuffer()
        for number in [10, 13] { buffer.insert(try packet(number), now: start) }
        #expect(numbers(buffer.take(now: start)) == [10])
        var asked: [(Int64, [Int])] = []
        var out: [(Int64, [Int])] = []
        for millisecond in Int64(0)...400 {
            let now = start + .milliseconds(millisecond)
            let ready = numbers(buffer.take(now: now))
            if !ready.isEmpty { out.append((millisecond, ready)) }
            let requests = buffer.requests(now: now)
            if !requests.isEmpty { asked.append((millisecond, requests.map { Int($0.rawValue) })) }
            #expect(buffer.deadline > now)
        }
        #expect(asked.map(\.0) == [5, 65, 125, 185])
        #expect(asked.allSatisfy { $0.1 == [11, 12] })
        #expect(out.map(\.0) == [300])
        #expect(out.first?.1 == [13])
        #expect(buffer.lostPackets == 2)
        #expect(buffer.deadline == .distantFuture)
    }

    @Test("a packet that comes because it was asked for closes the gap")
    func repaired() throws {
        var buffer = JitterBuffer()
        for number in [10, 12, 13] { buffer.insert(try packet(number), now: start) }
        #expect(numbers(buffer.take(now: start)) == [10])
        #expect(buffer.requests(now: start + .milliseconds(5)).map(\.rawValue) == [11])
        buffer.insert(try packet(11), now: start + .milliseconds(30))
        #expect(numbers(buffer.take(now: start + .milliseconds(30))) == [11, 12, 13])
        #expect(buffer.take(now: start + .seconds(1)).isEmpty)
        #expect(buffer.lostPackets == 0)
    }

    @Test("a gap is given up where too many packets, or too many bytes, wait behind it")
    func bounded() throws {
        var buffer = JitterBuffer()
        buffer.insert(try packet(0), now: start)
        var out = numbers(buffer.take(now: start))
        for number in 2...(JitterBuffer.maxPacketCount + 2) {
            buffer.insert(try packet(number), now: start)
            out += numbers(buffer.take(now: start))
        }
        #expect(out.count == JitterBuffer.maxPacketCount + 2)
        #expect(out == out.sorted())
        #expect(buffer.lostPackets == 1)

        buffer = JitterBuffer()
        buffer.insert(try packet(0), now: start)
        out = numbers(buffer.take(now: start))
        for number in 2..<60 {
            buffer.insert(try packet(number, count: 60_000), now: start)
            out += numbers(buffer.take(now: start))
        }
        #expect(out.last == 59)
    }

    @Test("2 MiB wait behind a gap, and a byte more gives it up")
    func mostBytes() throws {
        var buffer = JitterBuffer()
        buffer.insert(try packet(0), now: start)
        for number in 2..<66 { buffer.insert(try packet(number, count: 32 << 10), now: start) }
        #expect(numbers(buffer.take(now: start)) == [0])
        buffer.insert(try packet(66, count: 1), now: start)
        #expect(numbers(buffer.take(now: start)) == Array(2...66))
        #expect(buffer.lostPackets == 1)
    }

    @Test("a stream that jumps starts again at once, and all that waited comes out first")
    func jump() throws {
        var buffer = JitterBuffer()
        for number in [5, 7, 20_000, 20_001] { buffer.insert(try packet(number), now: start) }
        #expect(numbers(buffer.take(now: start)) == [5, 7, 20_000, 20_001])
        #expect(buffer.requests(now: start + .seconds(1)).isEmpty)
    }

    @Test("a whole burst that is lost is asked for in parts")
    func burst() throws {
        var buffer = JitterBuffer()
        for number in [0, 1001] { buffer.insert(try packet(number), now: start) }
        let now = start + .milliseconds(5)
        var asked: [Int] = []
        for _ in 0..<20 { asked += buffer.requests(now: now).map { Int($0.rawValue) } }
        #expect(asked == Array(1...1000))
    }

    @Test("a burst that is lost may be filled from anywhere, and just what stays away is asked for and lost")
    func filled() throws {
        var buffer = JitterBuffer()
        for number in [0, 201] { buffer.insert(try packet(number), now: start) }
        // The first, the last, one between, a neighbour on each side, and what splits the 128 that are asked for first.
        for number in [1, 200, 50, 49, 51, 129] { buffer.insert(try packet(number), now: start) }
        let now = start + .milliseconds(5)
        let missing = Array(2..<49) + Array(52..<129) + Array(130..<200)
        #expect(buffer.requests(now: now).map { Int($0.rawValue) } == Array(missing.prefix(128)))
        #expect(buffer.requests(now: now).map { Int($0.rawValue) } == Array(missing.dropFirst(128)))
        #expect(buffer.requests(now: now).isEmpty)
        buffer.insert(try packet(133), now: now)
        #expect(numbers(buffer.take(now: now)) == [0, 1])
        #expect(numbers(buffer.take(now: start + .milliseconds(300))) == [49, 50, 51, 129, 133, 200, 201])
        #expect(buffer.lostPackets == missing.count - 1)
        #expect(buffer.deadline == .distantFuture)
    }

    @Test("whatever comes, packets come out in order, each once, within the limits", arguments: [UInt64](1...4))
    func random(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var buffer = JitterBuffer()
        var number = Int.random(in: 0..<65536, using: &random)
        var last: ExtendedSequenceNumber?
        var unwrapper = SequenceUnwrapper()
        var now = start
        for _ in 0..<3000 {
            now = now + .microseconds(Int64.random(in: 0..<3000, using: &random))
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<80: number += 1
            case 80..<90: number += Int.random(in: 0..<50, using: &random)
            case 90..<99: number -= Int.random(in: 0..<80, using: &random)
            default: number += Int.random(in: 0..<20_000, using: &random)
            }
            buffer.insert(try packet(number), now: now)
            for packet in buffer.take(now: now) {
                let position = unwrapper.unwrap(packet.header.sequenceNumber)
                if let last { #expect(position > last) }
                last = position
            }
            var count = JitterBuffer.maxRequestCount
            while count == JitterBuffer.maxRequestCount { count = buffer.requests(now: now).count }
            #expect(count < JitterBuffer.maxRequestCount)
            #expect(buffer.deadline > now)
        }
    }
}
