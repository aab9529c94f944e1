import AudioCoding
import MediaTypes
import Opus
import TestSupport
import Testing
import TrackHub

@testable import RTSPServing

@Suite("A track's sound as PCMU")
struct PCMUAudioTests {
    private let encoder: OpusEncoder
    private let sound: PCMUAudio
    /// 10 ms, which are half a packet of PCMU.
    private let short = OpusPacket.silence(frameCount: 4)

    init() throws {
        encoder = try OpusEncoder(channelCount: 1, bitRate: BitRate(bitsPerSecond: 64_000))
        sound = try #require(PCMUAudio())
    }

    /// A packet of Opus; by default it has 20 ms of a tone.
    private func frame(_ number: UInt64, at ticks: Int64, _ packet: [UInt8]? = nil) throws -> TrackFrame {
        let packet = try packet ?? Array(encoder.encode(tone(440, seconds: 0.02)))
        let coded = CodedFrame(
            bytes: [0, 0, 0, 1] + packet, units: [4..<packet.count + 4], isRandomAccess: true, captureTime: nil,
            format: TrackFormat(codec: .opus))
        return TrackFrame(
            number: number, coded: coded, time: MediaTime(ticks: ticks), format: TrackFormat(codec: .opus),
            arrival: now())
    }

    @Test("has packets of 20 ms, the same for every player")
    func packets() throws {
        let frames = try [
            frame(0, at: 603, short), frame(1, at: 1083), frame(2, at: 2043), frame(3, at: 3003, short),
            frame(4, at: 3483, OpusPacket.silence(frameCount: 24)),
        ]
        let made = frames.map { sound.packets(of: $0) }
        #expect(made.map(\.count) == [0, 1, 1, 1, 3])
        #expect(made.joined().map(\.time.ticks) == [100, 260, 420, 580, 740, 900])
        #expect(made.joined().allSatisfy { $0.bytes.count == 160 })
        // Another player comes to them later.
        let again = frames.map { sound.packets(of: $0).map(\.bytes) }
        #expect(again == made.map { $0.map(\.bytes) })
    }

    @Test("starts again after a silence, a loss and a damaged packet")
    func breaks() throws {
        // Three packets and a silence; a lost packet; a damaged one, in whose place something else comes.
        let frames = try [
            frame(0, at: 0, short), frame(1, at: 480, short), frame(2, at: 960, short), frame(3, at: 48_000, short),
            frame(4, at: 48_480, short), frame(6, at: 49_440, short), frame(7, at: 49_920, short),
            frame(8, at: 50_400, [0xFF, 0]), frame(9, at: 50_880, short), frame(10, at: 51_360, short),
        ]
        let made = frames.flatMap { sound.packets(of: $0) }
        #expect(made.map(\.time.ticks) == [0, 8000, 8240, 8480])
    }

    @Test("remembers two seconds for players that are late, however short the packets of Opus are")
    func memory() throws {
        let shortest = OpusPacket.silence(frameCount: 1)
        let frames = try (0..<2000).map { try frame(UInt64($0), at: Int64($0) * 120, shortest) }
        for frame in frames { _ = sound.packets(of: frame) }
        let late = frames.suffix(800).flatMap { sound.packets(of: $0) }
        #expect(late.count == 100 && late.last?.time.ticks == 39_840)
        #expect(frames.prefix(800).allSatisfy { sound.packets(of: $0).isEmpty })
    }
}
