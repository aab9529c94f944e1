import MediaTypes

/// The rate of the narrowest link as measured when its queue was full: an average with its usual deviation.
struct LinkCapacityEstimator {
    /// Weights of a new measurement in the average and in the variance.
    private static let gain = (mean: 0.3, variance: 0.1)
    /// A measurement that is this much off the average shows another link.
    private static let maxDeviation = 0.4
    private static let initialVariance = 0.01
    private static let variances = 0.0004...0.02
    /// So many deviations are no change of the link.
    private static let deviations = 2.0

    private var mean: BitRate?
    /// The variance, relative to the mean.
    private var variance = initialVariance

    /// Adds a measurement and returns the average.
    mutating func add(_ rate: BitRate) -> BitRate {
        guard let old = mean, abs(rate / old - 1) < Self.maxDeviation else {
            mean = rate
            variance = Self.initialVariance
            return rate
        }
        let error = rate / old - 1
        let new = old * (1 + Self.gain.mean * error)
        mean = new
        let value = (1 - Self.gain.variance) * variance + Self.gain.variance * error * error
        variance = min(max(value, Self.variances.lowerBound), Self.variances.upperBound)
        return new
    }

    private var deviation: Double { variance.squareRoot() }

    func isNear(_ rate: BitRate) -> Bool {
        guard let mean else { return false }
        return rate > mean * ((1 - Self.deviations * deviation) * 0.95)
    }

    func isBelow(_ rate: BitRate) -> Bool {
        guard let mean else { return false }
        return rate > mean * (1.1 + Self.deviations * deviation)
    }

    mutating func forget() { mean = nil }
}
