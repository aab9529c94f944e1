import MediaTypes
import RoomConnections
import TestSupport
import Testing

@testable import ScreenRelayClient

@Suite("A slow reader of a room")
struct SlowReaderTests {
    private func frame(_ isRandomAccess: Bool, byteCount: Int = 10) -> ReceivedFrame {
        ReceivedFrame(
            coded: CodedFrame(
                bytes: [UInt8](repeating: 1, count: byteCount), units: [0..<byteCount], isRandomAccess: isRandomAccess,
                captureTime: nil, format: nil), codec: .h264, arrival: now())
    }

    /// The frames that wait, by their numbers, and whether a key frame is needed behind them.
    private func take(_ queue: FrameQueue) -> (numbers: [UInt64], needsKeyFrame: Bool) {
        var numbers: [UInt64] = []
        while true {
            switch queue.next() {
            case .frame(let frame): numbers.append(frame.number)
            case .nothing(let needsKeyFrame): return (numbers, needsKeyFrame)
            case .finished: return (numbers, false)
            }
        }
    }

    @Test("begins with a key frame, for which it asks once")
    func beginning() {
        let queue = FrameQueue(track: "screen", kind: .video)
        queue.push(frame(false))
        #expect(take(queue) == ([], true))
        #expect(take(queue) == ([], false))
        queue.push(frame(true))
        queue.push(frame(false))
        #expect(take(queue) == ([2, 3], false))
    }

    @Test("loses all that waits when it is too much, and what follows up to the next key frame")
    func overflow() {
        let queue = FrameQueue(track: "screen", kind: .video)
        queue.push(frame(true))
        for _ in 0..<FrameQueue.limit * 3 { queue.push(frame(false)) }
        #expect(take(queue) == ([], true))
        queue.push(frame(false))
        queue.push(frame(true))
        let last = UInt64(FrameQueue.limit * 3 + 3)
        #expect(take(queue) == ([last], false))
    }

    @Test("never has more than its limit of bytes")
    func bytes() {
        let queue = FrameQueue(track: "screen", kind: .video)
        for index in 0..<10 { queue.push(frame(index == 0, byteCount: FrameQueue.byteLimit / 4)) }
        #expect(take(queue) == ([], true))
        for _ in 0..<5 { queue.push(frame(true, byteCount: FrameQueue.byteLimit / 4)) }
        #expect(take(queue).numbers == [15])
        // Sound begins anywhere.
        let sound = FrameQueue(track: "screen", kind: .audio)
        for _ in 0...FrameQueue.limit { sound.push(frame(true)) }
        #expect(take(sound) == ([UInt64(FrameQueue.limit) + 1], false))
        sound.push(frame(true))
        sound.finish()
        sound.push(frame(true))
        #expect(take(sound).numbers == [UInt64(FrameQueue.limit) + 2])
        guard case .finished = sound.next() else {
            Issue.record("it goes on")
            return
        }
    }

    @Test("goes on with a key frame of a host that sends all the time", .timeLimit(.minutes(10)))
    func host() async throws {
        let room = try ClientRoom()
        defer { room.stop() }
        _ = try room.writeStream(every: 5)
        let client = try RoomClient(room.link)
        let track = try await client.join(until: "screen")
        var frames = track.frames.makeAsyncIterator()
        var last = try #require(await frames.next())
        #expect(last.coded.isRandomAccess)
        let begun = room.writtenFrames
        try await awaited("many frames") { room.writtenFrames > begun + FrameQueue.limit * 3 }
        var afterGap: [RoomFrame] = []
        while afterGap.count < 20 {
            let frame = try #require(await frames.next())
            if frame.number != last.number + 1 { afterGap = [] }
            if frame.number != last.number + 1 || !afterGap.isEmpty { afterGap.append(frame) }
            last = frame
        }
        #expect(afterGap[0].coded.isRandomAccess)
    }

    @Test("of events, the newest wait")
    func events() async {
        let queue = EventQueue<Int>()
        for number in 0..<2000 { queue.post(number) }
        queue.post(-1) { $0 == 1500 }
        queue.finish(-2)
        queue.post(-3)
        var reader = EventQueue<Int>.Reader(queue)
        var read: [Int] = []
        while let number = await reader.next() { read.append(number) }
        #expect(read.count == 1024 && read.suffix(2) == [-1, -2] && read.first == 977 && !read.contains(1500))
    }
}
