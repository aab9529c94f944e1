import MediaTypes

/// Distinguishes loss that sending less avoids from the path's own loss, for example on a radio link.
///
/// Only a trial can distinguish the two: when more is lost than the path's own loss explains, the rate falls a little.
/// If the loss falls with the rate, as on a full link, the rate stays low. Otherwise the loss is the path's own, and
/// the rate returns. libwebrtc's second loss-based estimator fits the same two unknowns, the link's rate and the path's
/// own loss, to the loss at different rates.
struct LossBasedEstimator {
    enum Verdict: Equatable {
        case keep
        /// Send no more than that.
        case lower(to: BitRate)
        /// The loss was not due to the rate, which was that much.
        case restore(BitRate)
        /// The loss was due to the rate: the path carries no more than that.
        case carries(BitRate)
    }

    private enum Phase {
        case watching
        /// The rate was lowered.
        case trying(Trial)
    }

    /// The state before a trial lowers the rate: `sent` was sent with `loss`, under the estimate `rate`.
    private struct Trial {
        let rate: BitRate
        let sent: BitRate
        let loss: Double
        /// The number of windows without a result.
        var windows = 0
    }

    /// A path that loses more than this on its own is treated as congested.
    private static let maxInherentLoss = 0.3

    /// So much loss among a hundred packets is no chance.
    private static let certain = 0.4
    /// The share of the rate that a trial leaves.
    private static let step = 0.85
    /// The least share of the rate after certain loss, and after a trial whose loss stays above `maxInherentLoss`
    /// without being certain.
    private static let minFactor = 0.25
    private static let repeatedStep = 0.8
    /// The number of packets for certain loss, to end a window early, and to end a window at all.
    private static let certainCount = 100.0
    private static let windowCounts = (early: 50.0, least: 20.0)
    /// The length of a window with enough packets, and of a window with few packets or during a trial.
    private static let windowTimes = (short: Interval.milliseconds(250), long: Interval.milliseconds(800))
    /// The weight of the earlier windows, and the weight of a window in the path's own loss.
    private static let memory = 0.7
    private static let inherentGain = 0.03
    /// A trial that changed the loss by less than this has no result yet, and after so many windows none at all.
    private static let minChange = 0.02
    private static let maxTrialWindows = 2
    /// The loss fell with the rate if no more than this share of the expected fall is missing.
    private static let remainder = 0.3
    /// At least this part of the packets must have been sent after the rate changed.
    private static let minNewShare = 0.8
    /// The packets that one event loses, and the loss of a path that has shown none.
    private static let eventSize = 5.0
    private static let minLoss = 0.01

    /// Whether a trial has lowered the rate, which should not rise meanwhile.
    var isTrying: Bool {
        if case .trying = phase { return true }
        return false
    }

    /// The fraction of packets that the path loses at any rate.
    private(set) var inherentLoss = 0.0
    private var phase = Phase.watching
    /// Packets judged, and lost, since the last window, and of the windows before with less weight.
    private var packets = 0.0
    private var lost = 0.0
    private var windowPackets = 0.0
    private var windowLost = 0.0
    private var windowStart: MonotonicTime?
    /// Packets before this one were sent under an earlier rate.
    private var first: Int64 = 0
    /// The packets before this one have been judged as lost or received.
    private var judgedEnd: Int64 = 0

    /// Judges the packets before `end`, which the previous feedback had already passed, so that packets that were only
    /// overtaken don't count as lost.
    mutating func record(_ packets: borrowing SendTimeHistory, before end: Int64) {
        judgedEnd = max(judgedEnd, packets.next - Int64(SendTimeHistory.capacity))
        while judgedEnd < end {
            if let packet = packets.packet(judgedEnd), packet.status == .lost || packet.status == .received {
                record(judgedEnd, isLost: packet.status == .lost)
            }
            judgedEnd += 1
        }
    }

    /// Counts one packet as lost or received.
    mutating func record(_ number: Int64, isLost: Bool) {
        guard number >= first else { return }
        windowPackets += 1
        if isLost { windowLost += 1 }
    }

    /// Counts `count` packets up to the number `last`, of which `lost` were lost. Ignores them if many were sent before
    /// the rate changed.
    mutating func record(_ count: Double, lost: Double, last: Int64) {
        guard Double(last - first) > count * Self.minNewShare else { return }
        windowPackets += count
        windowLost += lost
    }

    /// Forgets the packets before `number`, which were sent at another rate.
    mutating func restart(at number: Int64) {
        first = number
        windowPackets = 0
        windowLost = 0
        packets = 0
        lost = 0
        windowStart = nil
    }

    /// The path's queue explains the loss: a trial is not needed.
    mutating func abandon(at number: Int64) {
        phase = .watching
        restart(at: number)
    }

    /// Ends the window if it is long enough, and returns the resulting decision.
    ///
    /// - Parameters:
    ///   - rate: the estimate.
    ///   - sent: the present send rate.
    ///   - next: the number of the next packet.
    ///   - since: when the first packets were judged, if that was not now.
    mutating func evaluate(
        rate: BitRate, sent: BitRate, isApplicationLimited: Bool, next: Int64, since: MonotonicTime? = nil,
        at now: MonotonicTime
    ) -> Verdict {
        if windowStart == nil, windowPackets > 0 { windowStart = since ?? now }
        guard let start = windowStart else { return .keep }
        let age = now - start
        let (counts, times) = (Self.windowCounts, Self.windowTimes)
        guard windowPackets >= counts.least, age >= (isTrying ? times.long : times.short),
            windowPackets >= counts.early || age >= times.long
        else { return .keep }
        windowStart = now
        packets = packets * Self.memory + windowPackets
        lost = lost * Self.memory + windowLost
        windowPackets = 0
        windowLost = 0
        let loss = lost / packets
        switch phase {
        case .watching:
            inherentLoss += Self.inherentGain * (min(loss, Self.maxInherentLoss) - inherentLoss)
            guard !isApplicationLimited, loss > inherentLoss + allowance else { return .keep }
            let isCertain = loss > Self.certain && packets >= Self.certainCount
            phase = .trying(Trial(rate: rate, sent: sent, loss: loss))
            restart(at: next)
            return .lower(to: isCertain ? min(rate, sent) * max(1 - loss, Self.minFactor) : rate * Self.step)
        case .trying(let trial):
            return result(of: trial, loss: loss, rate: rate, sent: sent)
        }
    }

    /// The result of a trial after one more window, in which `sent` was sent with `loss` under the estimate `rate`.
    ///
    /// Had the loss been due to the rate, it would have fallen to the share that still exceeds the link's rate
    /// (`expected`).
    ///
    /// | the loss | result |
    /// | --- | --- |
    /// | could not fall by enough to tell, for a few windows | wait for another window |
    /// | could not fall by enough to tell, and is low | nothing was learnt: the rate returns |
    /// | is more than any path's own | the path is congested: the rate falls again |
    /// | has fallen as expected | it was due to the rate: the path carries the rate that arrived before |
    /// | has not fallen as expected | it is the path's own: the rate returns |
    private mutating func result(of trial: Trial, loss: Double, rate: BitRate, sent: BitRate) -> Verdict {
        // A full link would lose only the excess over its rate.
        let carried = trial.sent * (1 - trial.loss)
        let expected = min(inherentLoss + max(0, 1 - carried / max(sent, BitRate(bitsPerSecond: 1))), trial.loss)
        // Other viewers influence the send rate too, so it may not have fallen.
        let tellsNothing = trial.loss - expected < Self.minChange
        if tellsNothing, loss <= Self.certain, trial.windows < Self.maxTrialWindows {
            phase = .trying(Trial(rate: trial.rate, sent: trial.sent, loss: trial.loss, windows: trial.windows + 1))
            return .keep
        }
        phase = .watching
        if tellsNothing, loss < Self.maxInherentLoss / 2 {
            inherentLoss = loss
            return .restore(trial.rate)
        }
        if loss > Self.maxInherentLoss {
            let factor = loss > Self.certain ? Self.minFactor : Self.repeatedStep
            return .lower(to: max(sent * (1 - loss), rate * factor))
        }
        guard loss > expected + Self.remainder * (trial.loss - expected) else { return .carries(carried) }
        inherentLoss = loss
        return .restore(trial.rate)
    }

    /// How much more loss than the path's own is chance, or a burst of five packets.
    private var allowance: Double {
        let usual = max(inherentLoss, Self.minLoss)
        return Self.minChange + 2 * (Self.eventSize * usual * (1 - usual) / packets).squareRoot()
    }
}
