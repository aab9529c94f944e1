import ByteCoding
import CommandLine
import MediaTypes
import PictureTimeline

/// What was measured.
struct Results {
    let plan: Plan
    let viewers: [any Watcher]
    let pictures: [PictureTable.Picture]
    let counters: Counters
    /// From the first request to the last viewer's first picture.
    let rampSeconds: Double
    let seconds: Double
    /// The CPU time of the thread that has the viewers, in nanoseconds, during the measurement.
    let cpuTime: Int64
    /// The viewers with a path of their own. All other figures are without them.
    var odd: [OddViewer] = []
    /// The result of decoding one viewer's pictures; nil if none were to be decoded.
    var decoding: PictureSample.Outcome?

    private var joined: [any Watcher] { viewers.filter { $0.firstPicture != nil } }
    /// Those whose pictures can be compared with others'.
    private var placed: [any Watcher] { joined.filter { $0.isPlaced } }
    private var counted: [PictureTable.Picture] { pictures.filter(\.isCounted) }

    /// The first failure and the number of viewers that failed.
    var failures: (count: Int, first: String?) {
        let failed = viewers.filter { $0.firstPicture == nil || $0.failure != nil }
        let reason = failed.lazy.compactMap { $0.failure }.first
        return (failed.count, reason ?? (failed.isEmpty ? nil : "no picture in time"))
    }

    /// The share of whole pictures in percent: of all placed viewers together, and of the one with the fewest.
    private var wholeShare: (total: Double, worst: Double) {
        let expected = counted.count
        let counts = placed.map { $0.wholePictures }
        guard expected > 0, let least = counts.min() else { return (0, 0) }
        return (
            100 * Double(counts.reduce(0, +)) / Double(expected * counts.count), 100 * Double(least) / Double(expected)
        )
    }

    /// Milliseconds from a request to the first whole picture.
    private var joinTimes: Distribution {
        Distribution(joined.compactMap { viewer in viewer.firstPicture.map { ($0 - viewer.began).seconds * 1000 } })
    }

    /// Milliseconds from a request to the end of the DTLS handshake, of viewers over WebRTC.
    private var connectTimes: Distribution {
        Distribution(joined.compactMap { viewer in viewer.connected.map { ($0 - viewer.began).seconds * 1000 } })
    }

    /// Milliseconds between the first and the last viewer that got all of a picture.
    private var spreads: Distribution {
        Distribution(counted.filter { $0.whole > 1 }.map { ($0.last - $0.first).seconds * 1000 })
    }

    /// The results as fields of a JSON object.
    var json: JSONFields {
        let share = wholeShare
        let failures = failures
        var fields = JSONFields()
        fields.add("event", text: "result")
        fields.add("path", text: plan.path.text)
        fields.add("viewers", viewers.count)
        fields.add("joined", joined.count)
        fields.add("failed", failures.count)
        if let first = failures.first { fields.add("failure", text: first) }
        fields.add("ramp_s", rampSeconds)
        fields.add("seconds", seconds)
        fields.add("pictures", counted.count)
        fields.add("unplaced", joined.count - placed.count)
        fields.add("pictures_of_one", viewers.count > 1 ? counted.count(where: { $0.whole <= 1 }) : 0)
        fields.add("whole_percent", share.total)
        fields.add("whole_percent_worst", share.worst)
        if let decoding {
            fields.add("sampled_pictures", decoding.pictures)
            fields.add("decoded_pictures", decoding.decoded)
            if let failure = decoding.failure { fields.add("decoding_failure", text: failure) }
        }
        fields.add(counters)
        fields.add("connect_ms", connectTimes)
        fields.add("join_ms", joinTimes)
        fields.add("spread_ms", spreads)
        fields.add("cpu_percent", Double(cpuTime) / 1e7 / seconds)
        fields.add("odd", odd.map(\.json))
        return fields
    }

    /// The results for people.
    var table: String {
        let share = wholeShare
        let failures = failures
        var table = TextTable()
        func number(_ value: Double) -> String { DecimalText.fixed(value, digits: 2) }
        table.add(["viewers", "\(joined.count) of \(viewers.count) joined in \(number(rampSeconds)) s"])
        if !plan.path.text.isEmpty { table.add(["path", plan.path.text]) }
        if let first = failures.first { table.add(["failed", "\(failures.count): \(first)"], limit: 200) }
        table.add(["pictures", "\(counted.count) in \(number(seconds)) s"])
        if placed.count < joined.count {
            table.add(["not compared", "\(joined.count - placed.count): they have got other pictures than the rest"])
        }
        let all = counters.wholePictures
        table.add(["whole", "\(number(share.total)) %, the worst viewer \(number(share.worst)) %, \(all) in all"])
        if let decoding { table.add(["decoded", decoding.text], limit: 200) }
        let rate = Double(counters.packets) / seconds
        table.add(["packets", "\(counters.packets), \(number(rate)) per second, \(counters.bytes) bytes"])
        table.add([
            "repeated", "\(counters.retransmissions), padding \(counters.paddings), duplicates \(counters.duplicates)",
        ])
        table.add(["requested", "\(counters.requests), key frames \(counters.keyFrameRequests)"])
        let ends = "broken pictures \(counters.brokenPictures), on the path \(counters.pathDrops)"
        table.add(["lost", "\(counters.lostPackets), \(ends)"])
        table.add(["not authentic", "\(counters.forgeries)"])
        table.add(["join, ms", joinTimes.text])
        table.add(["spread, ms", spreads.text])
        table.add(["our own CPU", "\(number(Double(cpuTime) / 1e7 / seconds)) % of a core, \(counters.drops) drops"])
        for viewer in odd { table.add([viewer.path, viewer.text], limit: 200) }
        return table.text
    }
}

/// The median, the 95th percentile and the maximum of some values.
struct Distribution {
    private let values: [Double]

    init(_ values: [Double]) { self.values = values.sorted() }

    var median: Double { at(0.5) }
    var p95: Double { at(0.95) }
    var max: Double { values.last ?? 0 }

    var text: String {
        func number(_ value: Double) -> String { DecimalText.fixed(value, digits: 1) }
        return "median \(number(median)), p95 \(number(p95)), max \(number(max))"
    }

    /// The nearest rank: the smallest value that this part of them doesn't exceed.
    private func at(_ part: Double) -> Double {
        let rank = Int((part * Double(values.count)).rounded(.up)) - 1
        return values.indices.contains(rank) ? values[rank] : 0
    }
}

/// The fields of a JSON object, written in their order.
struct JSONFields {
    private var fields: [String] = []

    mutating func add(_ name: String, _ value: Int) { fields.append("\"\(name)\": \(value)") }

    mutating func add(_ name: String, _ value: Double) {
        fields.append("\"\(name)\": \(DecimalText.fixed(value, digits: 3))")
    }

    mutating func add(_ name: String, text: String) {
        // What JSON has to escape is left out: the texts are our own and servers' messages.
        let plain = text.unicodeScalars.filter { $0.value >= 0x20 && $0 != "\"" && $0 != "\\" }
        fields.append("\"\(name)\": \"\(String(String.UnicodeScalarView(plain)))\"")
    }

    mutating func add(_ name: String, _ value: Distribution) {
        var parts = JSONFields()
        parts.add("median", value.median)
        parts.add("p95", value.p95)
        parts.add("max", value.max)
        fields.append("\"\(name)\": \(parts.text)")
    }

    mutating func add(_ name: String, _ values: [JSONFields]) {
        fields.append("\"\(name)\": [\(values.map(\.text).joined(separator: ", "))]")
    }

    mutating func add(_ counters: Counters) {
        add("packets", counters.packets)
        add("bytes", counters.bytes)
        add("retransmissions", counters.retransmissions)
        add("paddings", counters.paddings)
        add("duplicates", counters.duplicates)
        add("forgeries", counters.forgeries)
        add("requests", counters.requests)
        add("key_frame_requests", counters.keyFrameRequests)
        add("reports", counters.reports)
        add("lost_packets", counters.lostPackets)
        add("broken_pictures", counters.brokenPictures)
        add("whole_pictures", counters.wholePictures)
        add("path_drops", counters.pathDrops)
        add("drops", counters.drops)
    }

    var text: String { "{\(fields.joined(separator: ", "))}" }
}
