/// The rate of the narrowest link as measured when its queue was full: an average with its usual deviation.
struct LinkCapacityEstimator {
    private var mean: Double?
    /// The variance, relative to the mean.
    private var variance = 0.01

    /// Adds a measurement and returns the average.
    mutating func add(_ rate: Double) -> Double {
        guard let old = mean, abs(rate - old) < 0.4 * old else {
            mean = rate
            variance = 0.01
            return rate
        }
        let error = rate - old
        let new = old + 0.3 * error
        mean = new
        variance = min(max(0.9 * variance + 0.1 * (error / old) * (error / old), 0.0004), 0.02)
        return new
    }

    private var deviation: Double { variance.squareRoot() }

    func isNear(_ rate: Double) -> Bool {
        guard let mean else { return false }
        return rate > mean * (1 - 2 * deviation) * 0.95
    }

    func isBelow(_ rate: Double) -> Bool {
        guard let mean else { return false }
        return rate > mean * (1.1 + 2 * deviation)
    }

    mutating func forget() { mean = nil }
}
