import CaptureLink
import MediaTypes
import Recording
import Replaying
import Testing

@Suite("Sound in a replay")
struct ReplayedAudioTests {
    private let period = Interval.seconds(1) / 30
    private static let epoch: UInt64 = 0x50

    /// Four pictures a second apart, of which the first and the third are IDR pictures; between them packets of sound,
    /// whose capture connects before the second picture.
    private func sample(hasSound: Bool = true, hasTimes: Bool = true) throws -> SampleRecording {
        var sample = SampleRecording()
        func time(_ milliseconds: Int64) -> Interval? { hasTimes ? .milliseconds(milliseconds) : nil }
        if hasTimes { sample.add(.connection, at: .zero) }
        sample.add(.hello(Hello(role: .capture, name: "c", processID: 1, makesKeyFrames: true)), at: time(0))
        sample.add(.size(PictureSize(width: 64, height: 48)), at: time(0))
        for number in 0..<4 {
            let second = Int64(number) * 1000
            if hasSound, number == 1 {
                let hello = Hello(role: .capture, name: "s", processID: 2, makesKeyFrames: true)
                sample.addOfSound(.hello(hello), epoch: Self.epoch, at: time(900))
                sample.addOfSound(.format(.opus), epoch: Self.epoch, at: time(900))
            }
            try sample.addPicture(
                UInt64(number), isIDR: number % 2 == 0, at: time(second), capture: 1000 + second * 1_000_000)
            for index in 0..<3 where hasSound && number > 0 {
                let milliseconds = second + 10 * Int64(index)
                try sample.addPacket(
                    index, epoch: Self.epoch, at: time(milliseconds), capture: 77 + milliseconds * 1_000_000)
            }
        }
        return sample
    }

    private func isOfSound(_ step: ReplayStep) -> Bool { step.header?.stream == MessageHeader.soundStream }

    @Test("is what was recorded, byte for byte and in its place, and changes nothing of the pictures")
    func exact() throws {
        let sample = try sample()
        var script = ReplayScript(period: period)
        let steps = SampleRecording.play(sample.items, &script)
        #expect(steps.map(\.bytes) == sample.items.compactMap(\.messageBytes).filter { $0[1] != 1 })
        var plainScript = ReplayScript(period: period)
        let plain = SampleRecording.play(try self.sample(hasSound: false).items, &plainScript)
        #expect(steps.filter { !isOfSound($0) } == plain)
        #expect(steps.filter(isOfSound).dropFirst().map(\.time.milliseconds).prefix(4) == [1000, 1010, 1020, 2000])
        #expect(script.pictures == 4)
    }

    @Test("in a dump has the times of its own clock")
    func dump() throws {
        let sample = try sample(hasTimes: false)
        var script = ReplayScript(period: period)
        let steps = SampleRecording.play(sample.items, &script)
        let times: [Int64] = [1000, 1010, 1020, 2000, 2010, 2020, 3000, 3010, 3020]
        #expect(steps.filter { isOfSound($0) && $0.kind == .unit }.map(\.time.milliseconds) == times)
        #expect(script.pictures == 4)
        #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.time <= $1.time })
    }

    @Test("from a time on begins with its format, and finds no place to begin that isn't a picture")
    func seeks() throws {
        let sample = try sample()
        var seek = ReplaySeek(for: .milliseconds(3500), period: period)
        for item in sample.items { seek.take(item) }
        let start = try #require(seek.start)
        #expect(start.time == .seconds(2))
        var script = ReplayScript(period: period, start: start)
        let steps = SampleRecording.play(sample.items, &script)
        let ofSound = steps.filter(isOfSound)
        #expect(ofSound.map(\.kind) == [.format] + [MessageKind?](repeating: .unit, count: 6))
        #expect(ofSound.allSatisfy { $0.time >= .seconds(2) && $0.header?.epoch != Self.epoch })
        #expect(Set(ofSound.map { $0.header?.epoch }).count == 1)
        #expect(
            steps.filter { !isOfSound($0) }.map(\.kind)
                == [.size, .picture, .unit, .unit, .unit, .picture, .unit])
    }

    @Test("that ended muted is unmuted before the sound of the next pass, or of another start of its capture")
    func muted() throws {
        var sample = try sample()
        sample.addOfSound(.sharing(.paused), epoch: Self.epoch, at: .seconds(4))
        var script = ReplayScript(period: period)
        _ = SampleRecording.play(sample.items, &script)
        let second = SampleRecording.play(sample.items, &script).filter(isOfSound)
        #expect(second.prefix(2).map(\.kind) == [.sharing, .format])
        #expect(second.first?.payload == [SharingState.live.rawValue])

        try sample.addPacket(9, epoch: Self.epoch + 1, at: .seconds(5), capture: 1)
        var other = ReplayScript(period: period)
        let last = SampleRecording.play(sample.items, &other).filter(isOfSound).suffix(3)
        #expect(last.map(\.kind) == [.sharing, .sharing, .unit])
        #expect(last.dropFirst().first?.payload == [SharingState.live.rawValue])
        // The pictures were never paused.
        #expect(!SampleRecording.play(sample.items, &other).contains { $0.kind == .sharing && !isOfSound($0) })
    }
}
