import Glibc

/// Samples of a sine of whole hertz at 48 kHz, the same on each of the channels.
public func tone(_ hertz: Int, seconds: Double, amplitude: Float = 0.5, channelCount: Int = 1) -> [Float] {
    let count = Int(seconds * 48_000) * channelCount
    // One second is computed: in a debug build, each sample costs.
    var second: [Float] = []
    for index in 0..<min(48_000, count / channelCount) {
        let sample = amplitude * Float(sin(2 * Double.pi * Double(hertz * index) / 48_000))
        for _ in 0..<channelCount { second.append(sample) }
    }
    var samples: [Float] = []
    samples.reserveCapacity(count)
    while samples.count < count { samples += second.prefix(count - samples.count) }
    return samples
}

/// What samples have of a sine.
public struct ToneFit {
    /// The sine's amplitude.
    public let amplitude: Double
    /// Its phase at the first sample, in radians.
    public let phase: Double
    /// How much stronger it is than all else, in decibels.
    public let signalToNoise: Double

    /// Fits a sine to samples of one channel, which should be whole periods of it.
    public init(_ hertz: Double, in samples: [Float]) {
        let step = 2 * Double.pi * hertz / 48_000
        // The sine turns by one step with each sample, which is cheaper than computing it anew.
        let (turnSine, turnCosine) = (sin(step), cos(step))
        var (ofSine, ofCosine, power) = (0.0, 0.0, 0.0)
        samples.withUnsafeBufferPointer { samples in
            var (sine, cosine) = (0.0, 1.0)
            var index = 0
            while index < samples.count {
                let sample = Double(samples[index])
                ofSine += sample * sine
                ofCosine += sample * cosine
                power += sample * sample
                (sine, cosine) = (sine * turnCosine + cosine * turnSine, cosine * turnCosine - sine * turnSine)
                index += 1
            }
        }
        let count = Double(max(1, samples.count))
        ofSine = ofSine * 2 / count
        ofCosine = ofCosine * 2 / count
        amplitude = (ofSine * ofSine + ofCosine * ofCosine).squareRoot()
        phase = atan2(ofCosine, ofSine)
        let signal = amplitude * amplitude / 2
        signalToNoise = 10 * log10(signal / max(power / count - signal, 1e-30))
    }
}
