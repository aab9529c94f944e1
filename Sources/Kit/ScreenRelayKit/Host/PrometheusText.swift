import ByteCoding

/// Metrics in the text format 0.0.4 of Prometheus. Each name begins with `screenrelay_`.
struct PrometheusText {
    /// A sample's labels with their values, which need no escaping.
    typealias Labels = [(name: String, value: String)]

    /// What has been written so far.
    private(set) var text = ""
    /// The metric that the samples belong to.
    private var metric = ""

    /// Begins a metric; its samples follow.
    mutating func begin(_ name: String, _ type: String, _ help: String) {
        metric = "screenrelay_\(name)"
        text += "# HELP \(metric) \(help)\n# TYPE \(metric) \(type)\n"
    }

    /// Adds a sample of the metric.
    mutating func add(_ labels: Labels, _ value: some BinaryInteger) { line("", labels, "\(value)") }

    /// Adds a sample of the metric, a time.
    mutating func add(_ labels: Labels, seconds: Double) { line("", labels, decimal(seconds)) }

    /// Adds a metric with one sample.
    mutating func add(_ name: String, _ type: String, _ help: String, _ value: some BinaryInteger) {
        begin(name, type, help)
        add([], value)
    }

    /// Adds a sample of the metric that is a histogram; `buckets` are cumulative, without the last one.
    mutating func add(
        _ labels: Labels = [], buckets: [(bound: Double, count: UInt64)], sum: Double, count: UInt64
    ) {
        for (bound, count) in buckets {
            line("_bucket", labels + [(name: "le", value: decimal(bound))], "\(count)")
        }
        line("_bucket", labels + [(name: "le", value: "+Inf")], "\(count)")
        line("_sum", labels, decimal(sum))
        line("_count", labels, "\(count)")
    }

    private mutating func line(_ suffix: String, _ labels: Labels, _ value: String) {
        let list = labels.map { "\($0.name)=\"\($0.value)\"" }.joined(separator: ",")
        text += metric + suffix + (list.isEmpty ? "" : "{\(list)}") + " \(value)\n"
    }

    private func decimal(_ value: Double) -> String { DecimalText.fixed(value, digits: 6, trimmed: true) }
}
