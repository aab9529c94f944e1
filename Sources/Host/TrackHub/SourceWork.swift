/// What a track's sources report of their work.
///
/// A part of ``Track``.
struct SourceWork: Sendable {
    /// What the present source has reported; nil if it has reported nothing, or if there is no source.
    private(set) var report: SourceReport?
    /// The last source's report, even if that source is gone.
    private var lastReport: SourceReport?
    /// What the sources before that one have done.
    private var former = SourceTotals()

    /// Notes that a source has come or gone.
    mutating func sourceChanged() { report = nil }

    mutating func reported(_ report: SourceReport) {
        if let earlier = lastReport {
            // The figures of a source that comes again go on; how long pictures took is measured for a connection.
            if !report.continues(earlier) { former.addFigures(of: earlier) }
            if self.report == nil { former.stages.add(earlier.stages) }
        }
        self.report = report
        lastReport = report
    }

    /// What all sources have done.
    var total: SourceTotals {
        var total = former
        if let lastReport {
            total.addFigures(of: lastReport)
            total.stages.add(lastReport.stages)
        }
        return total
    }
}
