import CongestionControl
import MediaTypes
import TestSupport

/// A seeded link between 300 kbit/s and 20 Mbit/s, with 10 to 150 ms of round trip and a queue of 100 ms to 1 s. Every
/// second one loses up to a tenth of the packets by chance.
func seededLink(_ seed: UInt64) -> SimulatedLink.Conditions {
    var random = SeededRandom(seed: seed)
    let octave = 1 << Int.random(in: 0...5, using: &random)
    return SimulatedLink.Conditions(
        rate: 300_000 * Double(octave) * Double.random(in: 1..<(octave < 32 ? 2 : 2.08), using: &random),
        delay: Double.random(in: 5..<75, using: &random),
        queue: 100 * Double(Int.random(in: 1...10, using: &random)),
        loss: seed % 2 == 0 ? Double.random(in: 0...0.1, using: &random) : 0)
}

/// One sender with a source that always moves, on a link of its own, with transport-wide feedback.
func run(
    _ link: SimulatedLink.Conditions, seconds: Double, source: SimulatedSender.Source = .init(),
    feedbackInterval: Int64 = 100, seed: UInt64 = 1
) -> Simulation {
    var simulation = Simulation(
        link: link, senders: [SimulatedSender(flow: 0, source: source, seed: seed)],
        feedbackInterval: feedbackInterval, seed: seed)
    simulation.run(seconds: seconds)
    return simulation
}

/// The same with reception reports instead, one each `interval` milliseconds.
func runWithReports(
    _ link: SimulatedLink.Conditions, seconds: Double, source: SimulatedSender.Source = .init(),
    interval: Int64 = 1000, initial: Int = 20_000_000, seed: UInt64 = 1
) -> Simulation {
    let limits = CongestionController.Limits(initial: BitRate(bitsPerSecond: initial))
    var simulation = Simulation(
        link: link,
        senders: [SimulatedSender(flow: 0, source: source, limits: limits, probes: false, seed: seed)],
        feedbackInterval: interval, hasTransportFeedback: false, seed: seed)
    simulation.run(seconds: seconds)
    return simulation
}

extension Simulation {
    /// The estimate of a sender as a share of the link's rate, for each 100 ms of the seconds given.
    func shares(_ seconds: Range<Double>, flow: Int = 0) -> [Double] {
        samples[flow].filter { seconds.contains($0.time) }
            .map { $0.estimate / link.conditions.rate(at: Int64($0.time * 1e9)) }
    }

    /// The largest fall of the estimate within 100 ms, as a share of it.
    func worstCut(_ seconds: Range<Double>) -> Double {
        let values = shares(seconds)
        return zip(values, values.dropFirst()).map { 1 - $1 / $0 }.max() ?? 0
    }

    /// The bits per second that a sender sent on average.
    func sentRate(_ seconds: Range<Double>, flow: Int = 0) -> Double {
        mean(samples[flow].filter { seconds.contains($0.time) }.map(\.sent))
    }

    /// The delay of the pictures made in these seconds that 95 % of them did not exceed, in milliseconds.
    func delay95(_ seconds: Range<Double>) -> Double {
        let delays = pictures[0].filter { seconds.contains($0.madeAt) }.map(\.delay).sorted()
        return delays.isEmpty ? .infinity : delays[min(delays.count - 1, delays.count * 95 / 100)]
    }

    /// The sample nearest to a time.
    func sample(at time: Double) -> Sample {
        samples[0].min { abs($0.time - time) < abs($1.time - time) } ?? samples[0][0]
    }
}

func mean(_ values: [Double]) -> Double {
    values.isEmpty ? 0 : values.reduce(0, +) / Double(values.count)
}

/// The means of each ten values: a second of samples.
func secondMeans(_ values: [Double]) -> [Double] {
    stride(from: 0, to: values.count - 9, by: 10).map { mean(Array(values[$0..<$0 + 10])) }
}

/// The longest run of values over `limit`, in seconds of samples.
func longest(over limit: Double, in values: [Double]) -> Double {
    var run = 0
    var most = 0
    for value in values {
        run = value > limit ? run + 1 : 0
        most = max(most, run)
    }
    return Double(most) / 10
}
