import Testing

@testable import Pushing

@Suite("Sound without gaps")
struct ContinuousAudioTests {
    private typealias Piece = ContinuousAudio.Piece

    /// 10 ms.
    private let length: Int64 = 480

    private func packet(_ time: Int64) -> Piece { Piece(content: .packet, time: time, length: length) }

    /// Takes a packet of 10 ms, which comes as soon as it can.
    private func take(_ time: Int64, _ sound: inout ContinuousAudio, late: Int64 = 0) -> [Piece] {
        sound.take(at: time, length: length, arrival: time + length + late)
    }

    @Test("packets that join pass as they are, and those that come too late don't")
    func joined() {
        var sound = ContinuousAudio(from: 960)
        #expect(take(0, &sound) == [])
        #expect(take(480, &sound) == [])
        for number in 2..<10 as Range<Int64> { #expect(take(480 * number, &sound) == [packet(480 * number)]) }
        #expect(take(480 * 9, &sound) == [])
        #expect(take(480 * 9 + 240, &sound) == [])
        #expect(take(480 * 10, &sound) == [packet(4800)])
        #expect(sound.end == 5280)
    }

    @Test("a few lost packets are concealed; what is longer is silence, and so is all behind a silence")
    func gaps() {
        var sound = ContinuousAudio(from: 0)
        // Nothing has been heard yet that could go on.
        #expect(take(480, &sound) == [Piece(content: .silence, time: 0, length: 480), packet(480)])
        // 60 ms.
        #expect(take(3840, &sound) == [Piece(content: .concealment, time: 960, length: 2880), packet(3840)])
        #expect(take(7320, &sound) == [Piece(content: .silence, time: 4320, length: 3000), packet(7320)])
        #expect(take(7920, &sound) == [Piece(content: .concealment, time: 7800, length: 120), packet(7920)])
        let silence = sound.silence(until: 48_000)
        #expect(silence?.time == 8400 && silence?.content == .silence)
        let end = sound.end
        #expect(take(end + 480, &sound) == [Piece(content: .silence, time: end, length: 480), packet(end + 480)])
    }

    @Test("where no packet comes for 200 ms there is silence, in pieces of 40 ms, and a packet behind it joins it")
    func silence() {
        var sound = ContinuousAudio(from: 0)
        _ = take(0, &sound)
        let due = sound.due
        #expect(due == 480 + 9600 + 1920)
        let early = sound.silence(until: due - 1)
        #expect(early == nil)
        let first = sound.silence(until: due)
        #expect(first == Piece(content: .silence, time: 480, length: 1920))
        let second = sound.silence(until: due)
        #expect(second == nil)
        let more = sound.silence(until: due + 2 * 1920 + 7)
        #expect(more == Piece(content: .silence, time: 2400, length: 3840))
        #expect(sound.due == due + 3 * 1920)
        #expect(take(6240, &sound) == [packet(6240)])
    }

    @Test("silence waits for longer where packets come late, and not for ever")
    func late() {
        var sound = ContinuousAudio(from: 0)
        // 300 ms.
        _ = take(0, &sound, late: 14_400)
        #expect(sound.due == 480 + 14_400 + 9600 + 1920)
        for number in 1..<1500 as Range<Int64> { _ = take(480 * number, &sound) }
        let delay = sound.due - sound.end - 9600 - 1920
        #expect(delay < 480, "\(delay)")
        // An hour.
        _ = take(480 * 1500, &sound, late: 48_000 * 3600)
        #expect(sound.due - sound.end == 480_000 + 9600 + 1920)
    }

    @Test("sound that always comes seconds late is heard, once that is known")
    func alwaysLate() {
        var sound = ContinuousAudio(from: 0)
        var heard = 0
        for number in 0..<1000 as Range<Int64> {
            let time = 480 * number
            // 5 s.
            _ = sound.silence(until: time + length + 240_000)
            heard += take(time, &sound, late: 240_000).count { $0.content == .packet }
        }
        #expect(heard > 500, "\(heard)")
        #expect(sound.end == 480 * 1000)
    }
}
