import Testing

/// A text in Prometheus's format 0.0.4.
struct ExposedMetrics {
    /// The type of each metric, which must have a help text, too.
    private(set) var types: [String: String] = [:]
    /// The samples, by name with labels.
    private(set) var samples: [(name: String, value: Double)] = []

    init(_ text: String) throws {
        var helped: Set<String> = []
        try #require(text.hasSuffix("\n"))
        for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            let words = line.split(separator: " ", maxSplits: 3)
            if line.hasPrefix("# ") {
                try #require(words.count == 4 && ["HELP", "TYPE"].contains(words[1]), "\(line)")
                let name = String(words[2])
                if words[1] == "HELP" { helped.insert(name) } else { types[name] = String(words[3]) }
                continue
            }
            try #require(words.count == 2, "\(line)")
            let value = try #require(Double(words[1]), "\(line)")
            let owner = try #require(metric(of: String(words[0].prefix { $0 != "{" })), "\(line)")
            #expect(helped.contains(owner), "\(line)")
            samples.append((String(words[0]), value))
        }
        #expect(Set(types.values).isSubset(of: ["gauge", "counter", "histogram"]))
        #expect(Set(samples.map(\.name)).count == samples.count, "a sample is there twice")
    }

    /// The metric that samples of this name belong to; nil if there is none.
    func metric(of name: String) -> String? {
        if types[name] != nil { return name }
        return ["_bucket", "_sum", "_count"].filter { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) }
            .first { types[$0] == "histogram" }
    }

    /// The value of the sample of this name with labels.
    func value(_ name: String) -> Double? { samples.first { $0.name == name }?.value }
}
