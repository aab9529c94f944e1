public import MediaTypes

/// A reader's report on its viewers' network paths.
///
/// A push, an RTSP player and a recording have no measured path; they report nothing, and get the source's frames.
public struct PathReport: Hashable, Sendable {
    /// The rate that each path can carry of the reader's layer; a viewer that gets the other layer counts there.
    public var targets: [BitRate]
    /// The rate that each path has been seen to carry.
    public var carried: [BitRate]
    /// For each viewer of the track, on either layer: the source's rate at which the viewer's path could carry the
    /// source layer. Counts while no viewer has the source layer.
    public var returning: [BitRate]
    /// The share of the source's frames that the reader can send to its viewers in time, in per cent, from 1 to 100.
    public var share: Int

    /// A report of these rates.
    public init(
        targets: [BitRate] = [], carried: [BitRate] = [], returning: [BitRate] = [], share: Int = 100
    ) {
        self.targets = targets
        self.carried = carried
        self.returning = returning
        self.share = share
    }
}

/// The bit rates of a track's encoders, which follow from the reports of all its readers. A change of less than 5 % is
/// left out, so that not every report changes an encoder.
///
/// A part of ``Track``.
public struct SharedRates: Sendable {
    /// The highest bit rate that the source may send.
    public private(set) var source = BitRate.highest
    /// The rate that the viewers' paths have been seen to carry; 0 if it is unknown.
    public private(set) var carried = BitRate(bitsPerSecond: 0)
    /// The share of the source's frames that all readers can send in time, in per cent.
    private(set) var share = 100
    /// The rate that the paths of all viewers of the low layer can carry; nil if the layer has no readers.
    private var lowTarget: BitRate?

    /// The rate at which the low layer is encoded; nil without readers. Retransmissions and headers need their part.
    var low: BitRate? { lowTarget.map { BitRate(bitsPerSecond: $0.bitsPerSecond * 85 / 100) } }

    /// Applies the present reports of all readers; a reader without a report has no measured path.
    ///
    /// - Parameter isRecorded: whether there is a recording, which is a reader without a measured path.
    mutating func update(_ readers: [(layer: Layer, report: PathReport?)], isRecorded: Bool) {
        let sourceReaders = readers.filter { $0.layer == .source }
        let reports = sourceReaders.compactMap(\.report)
        share = min(max(reports.map(\.share).min() ?? 100, 1), 100)
        let unmeasured = sourceReaders.count - reports.count + (isRecorded ? 1 : 0)
        var targets = reports.flatMap(\.targets) + Array(repeating: .highest, count: unmeasured)
        // While no viewer gets the source layer, its rate has to fall before a viewer can get it again.
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
