public import MediaTypes

/// What a reader of a track says of its viewers' network paths.
///
/// A push, an RTSP player and a recording have no path that is measured; they say nothing, and get what the source
/// sends.
public struct PathReport: Hashable, Sendable {
    /// What each of the paths can take of the reader's layer; a viewer that gets the other layer counts there.
    public var targets: [BitRate]
    /// What each of those paths has been seen to carry.
    public var carried: [BitRate]
    /// For each viewer of the track, whichever layer it gets: the rate of the source that would let it have the source
    /// layer. Counts while no viewer has that layer.
    public var returning: [BitRate]

    /// A report of these rates.
    public init(targets: [BitRate] = [], carried: [BitRate] = [], returning: [BitRate] = []) {
        self.targets = targets
        self.carried = carried
        self.returning = returning
    }
}

/// The bit rates of a track's encoders, which follow from the reports of all its readers. A change of less than 5 %
/// is left out, so that an encoder isn't told of each report.
///
/// A part of ``Track``.
public struct SharedRates: Sendable {
    /// What the source may send.
    public private(set) var source = BitRate.highest
    /// What the viewers' paths have been seen to carry; 0 if nothing is known of them.
    public private(set) var carried = BitRate(bitsPerSecond: 0)
    /// What all viewers of the low layer can take; nil if nobody takes it.
    private var lowTarget: BitRate?

    /// The rate at which the low layer is encoded; nil if nobody takes it. Retransmissions and headers need their part.
    var low: BitRate? { lowTarget.map { BitRate(bitsPerSecond: $0.bitsPerSecond * 85 / 100) } }

    /// Takes what all readers say now; a reader without a report has no measured path.
    ///
    /// - Parameter isRecorded: whether there is a recording, which is a reader without a measured path.
    mutating func update(_ readers: [(layer: Layer, report: PathReport?)], isRecorded: Bool) {
        let sourceReaders = readers.filter { $0.layer == .source }
        let reports = sourceReaders.compactMap(\.report)
        let unmeasured = sourceReaders.count - reports.count + (isRecorded ? 1 : 0)
        var targets = reports.flatMap(\.targets) + Array(repeating: .highest, count: unmeasured)
        // While nobody gets what the source sends, it has to become less before anybody can get it again.
        if targets.isEmpty { targets = reports.flatMap(\.returning) }
        if reports.isEmpty { targets = [.highest] }
        if let target = Self.forHalf(of: targets) { Self.change(&source, to: target) }
        // What the paths of other readers could carry is unknown, and what half of the viewers can take is for all.
        Self.change(&carried, to: Self.forHalf(of: reports.flatMap(\.carried)) ?? BitRate(bitsPerSecond: 0))

        let lowReports = readers.compactMap { $0.layer == .low ? $0.report : nil }
        guard !lowReports.isEmpty else { return lowTarget = nil }
        guard let least = lowReports.flatMap(\.targets).min() else { return }
        guard var target = lowTarget else { return lowTarget = least }
        Self.change(&target, to: least)
        lowTarget = target
    }

    /// The rate that at least half of the viewers can take; nil if there are none. A single bad path doesn't hold back
    /// the others: its viewer gets the low layer.
    static func forHalf(of rates: [BitRate]) -> BitRate? {
        rates.isEmpty ? nil : rates.sorted()[rates.count / 2]
    }

    private static func change(_ rate: inout BitRate, to new: BitRate) {
        if abs(new.bitsPerSecond - rate.bitsPerSecond) > rate.bitsPerSecond / 20 { rate = new }
    }
}
