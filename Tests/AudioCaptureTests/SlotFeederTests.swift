import MediaTypes
import TestSupport
import Testing

@testable import AudioCapture

@Suite("What puts sound into its place")
struct SlotFeederTests {
    /// The samples of a tone of 100 Hz in slots that follow each other, as a device captures it whose clock is off.
    private func fed(_ rate: Double, seconds: Int) throws -> (first: Slot, samples: [Float]) {
        let queue = SlotQueue(channelCount: 1)
        let feeder = try SlotFeeder(queue)
        var random = SeededRandom(seed: 3)
        let start = MonotonicTime(nanoseconds: 1_000_003_000_000)
        func trueTime(of position: Int) -> Double { Double(position) / 48_000 * (1 + rate) }
        var first: Slot?
        var samples: [Float] = []
        for fragment in 0..<seconds * 100 {
            let position = fragment * 480
            // The tone's phase is that of CLOCK_MONOTONIC, of which 10 ms are a period.
            let piece = (position..<position + 480).map { position -> Float in
                let time = trueTime(of: position) + 0.003
                return Float(0.5 * sine(100 * time))
            }
            let jitter = Interval(nanoseconds: Int64.random(in: -500_000...500_000, using: &random))
            let time = start + Interval(nanoseconds: Int64(trueTime(of: position) * 1e9)) + jitter
            feeder.observe(ahead: 0, at: time)
            piece.withUnsafeBufferPointer { feeder.add($0) }
            while let slot = queue.firstComplete {
                if first == nil { first = slot }
                try #require(slot.number == (first ?? slot).number + Int64(samples.count / Slot.frameCount))
                var mixed = [Float](repeating: 0, count: Slot.frameCount)
                queue.takeFirst(gain: 1, into: &mixed)
                samples += mixed
            }
        }
        return (try #require(first), samples)
    }

    @Test("each sample stays within 1 ms of its time, without a click", arguments: [0, 200e-6, -300e-6])
    func drift(rate: Double) throws {
        let (_, samples) = try fed(rate, seconds: 16)
        #expect(samples.count > 15 * 48_000)
        // Slots begin with a period of the tone, so its phase is the error of the place. The filter begins in the
        // first.
        for start in stride(from: 10 * 48_000, to: samples.count - 480, by: 4800) {
            let fit = ToneFit(100, in: Array(samples[start..<start + 480]))
            #expect(abs(fit.phase / (2 * .pi * 100)) < 1e-3)
            #expect(abs(fit.amplitude - 0.5) < 0.01)
        }
        var worst: Float = 0
        for index in 1922..<samples.count {
            worst = max(worst, abs(samples[index] - 2 * samples[index - 1] + samples[index - 2]))
        }
        // The tone itself bends by 0.00009 from sample to sample.
        #expect(worst < 0.001)
    }
}
