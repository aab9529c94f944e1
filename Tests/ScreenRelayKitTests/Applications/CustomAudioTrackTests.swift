import AudioCoding
import MediaTypes
import Opus
import Signalling
import Synchronization
import TestSupport
import Testing
import TrackHub

@testable import ScreenRelayKit

@Suite("An application's own sound")
struct CustomAudioTrackTests {
    private let hub = TrackHub(origin: now() - .seconds(60))

    /// Writes samples in pieces that don't fit packets, whose first one was captured at `start`.
    private func write(_ samples: [Float], to track: CustomAudioTrack, channelCount: Int = 1, at start: MonotonicTime) {
        let size = 441 * channelCount
        for first in stride(from: 0, to: samples.count, by: size) {
            let piece = Array(samples[first..<min(first + size, samples.count)])
            let time = start + ClockRate.audio.interval(of: Int64(first / channelCount))
            track.write(samples: AudioSamples(channelCount: channelCount, samples: piece), captured: time)
        }
    }

    /// What is told of who listens.
    private final class Told: Sendable {
        let all = Mutex<[Bool]>([])

        var feedback: CustomAudioTrack.Feedback {
            CustomAudioTrack.Feedback { isHeard in self.all.withLock { $0.append(isHeard) } }
        }
    }

    @Test("packets reach listeners byte for byte, and nothing else does")
    func packets() throws {
        let track = CustomAudioTrack()
        let packets: [[UInt8]] = (0..<5).map { [0xF0, $0, 1, 2] }
        let start = now() - .seconds(1)
        let frames = packets.enumerated().compactMap { index, packet in
            CodedFrame(opus: packet, captureTime: start + .milliseconds(10) * Int64(index))
        }
        #expect(frames.count == 5)
        // In no room yet.
        #expect(track.write(frames[0]) == .notPublished)
        #expect(track.attach(to: hub, recorder: nil))
        let reader = hub.subscribe {}
        for frame in frames { track.write(frame) }
        let picture = CodedFrame(
            bytes: [0, 0, 0, 1, 0x65, 1], units: [4..<6], isRandomAccess: true, captureTime: nil,
            format: TrackFormat(codec: .h264))
        #expect(track.write(picture) == .wrongCodec)
        #expect(track.write(samples: AudioSamples(channelCount: 1, samples: [0])) == .wrongKind)
        let received = reader.take()
        #expect(received.map { Array($0.coded.bytes.dropFirst(4)) } == packets)
        #expect(received.map(\.coded.captureTime) == frames.map(\.captureTime))
        #expect(zip(received, received.dropFirst()).allSatisfy { $1.time.ticks - $0.time.ticks == 480 })
    }

    @Test("samples are heard as they were written, without a gap and in their place", arguments: [1, 2])
    func samples(channelCount: Int) throws {
        let track = try CustomAudioTrack(channelCount: channelCount)
        #expect(track.attach(to: hub, recorder: nil))
        hub.viewerCame(decoding: .yuv444, now: now())
        let reader = hub.subscribe {}
        let start = now() - .seconds(2)
        let written = tone(440, seconds: 1, channelCount: channelCount)
        write(written, to: track, channelCount: channelCount, at: start)
        let frames = reader.take()
        #expect(frames.count == 50)
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $1.time.ticks - $0.time.ticks == 960 })
        // A decoder plays 120 samples before the first one that was written.
        #expect(frames.first?.coded.captureTime == start - ClockRate.audio.interval(of: 120))
        let decoder = try OpusDecoder(channelCount: channelCount)
        var decoded: [Float] = []
        for frame in frames { decoded += try decoder.decode(frame.coded.bytes[4...]) }
        for channel in 0..<channelCount {
            let samples = stride(from: channel, to: decoded.count, by: channelCount).map { decoded[$0] }
            let fit = ToneFit(440, in: Array(samples[12_120..<36_120]))
            #expect(fit.signalToNoise > 25)
            // A quarter of a second is 110 periods.
            #expect(abs(fit.phase) < 0.1)
        }
    }

    @Test("nothing is encoded while nobody listens, and its application hears of who does")
    func unheard() throws {
        let told = Told()
        let track = try CustomAudioTrack(channelCount: 1, feedback: told.feedback)
        #expect(track.listeners == 0)
        #expect(track.attach(to: hub, recorder: nil))
        let sound = tone(440, seconds: 0.1)
        let start = now() - .seconds(2)
        write(sound, to: track, at: start)
        #expect(hub.publishedFrames == 0)
        hub.viewerCame(decoding: .yuv444, now: now())
        #expect(track.listeners == 1)
        write(sound, to: track, at: start + .milliseconds(100))
        #expect(hub.publishedFrames == 5)
        hub.viewerLeft(decoding: .yuv444, now: now())
        write(sound, to: track, at: start + .milliseconds(200))
        #expect(hub.publishedFrames == 5)
        #expect(told.all.withLock { $0 } == [false, true, false])
    }

    @Test("silence sends nothing after 300 ms, and a gap of the capture times is one of the sound")
    func gaps() throws {
        let track = try CustomAudioTrack(channelCount: 1)
        #expect(track.attach(to: hub, recorder: nil))
        hub.viewerCame(decoding: .yuv444, now: now())
        let reader = hub.subscribe {}
        let (sound, silence) = (tone(440, seconds: 0.1), [Float](repeating: 0, count: 48_000))
        let start = now() - .seconds(6)
        write(silence, to: track, at: start)
        #expect(hub.publishedFrames == 0)
        write(sound + silence, to: track, at: start + .seconds(1))
        #expect(reader.take().count == 20)
        // This is near enough to the end of what was written to follow it.
        write(sound, to: track, at: start + .milliseconds(2115))
        let first = reader.take()
        write(sound, to: track, at: start + .milliseconds(3000))
        let second = reader.take()
        try #require(first.count == 5 && second.count == 5)
        let times = (first + second).map(\.time.ticks)
        #expect(abs(times[5] - times[0] - 900 * 48) <= 120)
        #expect(zip(times, times.dropFirst()).filter { $1 - $0 == 960 }.count == 8)
    }

    @Test("nothing that was captured before the end of a mute is heard")
    func muted() throws {
        let track = try CustomAudioTrack(channelCount: 1)
        #expect(track.attach(to: hub, recorder: nil))
        hub.viewerCame(decoding: .yuv444, now: now())
        let start = now() - .seconds(2)
        let sound = tone(440, seconds: 0.1)
        write(sound, to: track, at: start)
        #expect(hub.publishedFrames == 5)
        hub.setPaused(true, order: 1, now: start + .milliseconds(100))
        write(sound, to: track, at: start + .milliseconds(100))
        hub.setPaused(false, order: 2, now: start + .milliseconds(200))
        #expect(hub.publishedFrames == 5)
        write(sound, to: track, at: start + .milliseconds(210))
        #expect(hub.publishedFrames == 10)
    }

    @Test("samples that can't be used are refused")
    func refused() throws {
        let track = try CustomAudioTrack(channelCount: 2)
        for (channelCount, count) in [(1, 480), (2, 481)] {
            let refusal = track.write(
                samples: AudioSamples(channelCount: channelCount, samples: [Float](repeating: 0, count: count)))
            #expect(refusal == .wrongChannels)
        }
        #expect(throws: HostError.self) { _ = try CustomAudioTrack(channelCount: 3) }
    }

    @Test("a host's track has one sound at a time, listeners are no viewers, and its end is told")
    func published() throws {
        let host = try ScreenRelayHost(.anyPorts)
        defer { host.stop() }
        let first = CustomAudioTrack()
        let second = CustomAudioTrack()
        #expect(host.firstTrack.publish(first) && !host.firstTrack.publish(second) && !host.firstTrack.publish(first))
        #expect(host.firstTrack.soundState == AudioState.live)
        let reader = host.firstTrack.subscribeToSound {}
        #expect(first.listeners == 1 && host.firstTrack.listeners == 1 && host.viewers == 0)
        let frame = try #require(CodedFrame(opus: [0xF0, 7], captureTime: nil))
        second.write(frame)
        first.write(frame)
        #expect(reader.take().count == 1)
        first.end(reason: "it was a test")
        first.end(reason: "again")
        first.write(frame)
        #expect(reader.take().isEmpty)
        #expect(host.firstTrack.soundState == AudioState.none)
        #expect(host.firstTrack.publish(second))
        second.end(reason: "it was a test")
    }

    @Test("an application gets it decoded, and counts as a listener while it reads", .timeLimit(.minutes(10)))
    func decoded() async throws {
        let track = try CustomAudioTrack(channelCount: 1)
        #expect(track.attach(to: hub, recorder: nil))
        var pieces = TrackAudio(hub: hub, channelCount: 2).makeAsyncIterator()
        #expect(hub.viewers == 1)
        let start = now() - .seconds(2)
        write(tone(440, seconds: 1), to: track, at: start)
        var left: [Float] = []
        var end: Int64?
        for _ in 0..<50 {
            let next = try await pieces.next()
            let piece = try #require(next)
            #expect(piece.samples.channelCount == 2 && piece.samples.frameCount == 960)
            if let end { #expect(piece.time.ticks == end) }
            end = piece.time.ticks + 960
            left += stride(from: 0, to: 1920, by: 2).map { piece.samples.samples[$0] }
        }
        #expect(ToneFit(440, in: Array(left[12_120..<36_120])).signalToNoise > 25)
    }
}
