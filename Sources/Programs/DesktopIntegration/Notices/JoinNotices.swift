import MediaTypes

/// Decides which notifications tell of viewers who join: one for each, but at most one in 5 s, which then counts those
/// who have joined meanwhile.
struct JoinNotices {
    /// The least time between two notifications.
    static let spacing = Interval.seconds(5)

    private var first: String?
    private var more = 0
    private var nextTime = MonotonicTime.zero

    /// When ``next(at:)`` has something to tell; `distantFuture` if no one has joined.
    var deadline: MonotonicTime { first == nil ? .distantFuture : nextTime }

    /// Records that a viewer has joined; nil is one without a name.
    mutating func joined(_ name: String?) {
        if first == nil { first = Self.harmless(name) } else { more += 1 }
    }

    /// Records that so many more have joined.
    mutating func joined(further count: Int) {
        guard count > 0 else { return }
        if first != nil { more += count }
    }

    /// Returns a notification's summary if one is due, for example "Ann and 3 more joined".
    mutating func next(at now: MonotonicTime) -> String? {
        guard let first, now >= nextTime else { return nil }
        let text = more == 0 ? "\(first) joined" : "\(first) and \(more) more joined"
        self.first = nil
        more = 0
        nextTime = now + Self.spacing
        return text
    }

    /// The longest part of a name that is shown, in characters.
    private static let longestName = 60

    /// The name as a notification can have it. Without this, a viewer could choose a name that no message on the bus
    /// may contain, and so stay unnoticed, or one that reorders or breaks the text around it.
    static func harmless(_ name: String?) -> String {
        guard let name else { return "A viewer" }
        var text = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: text.append(" ")
            case _ where scalar.properties.isNoncharacterCodePoint: text.append("\u{FFFD}")
            case _ where scalar.properties.isBidiControl: break
            default: text.append(scalar)
            }
        }
        let isLong = String(text).count > longestName
        let words = String(text).prefix(longestName).split(separator: " ").joined(separator: " ")
        if words.isEmpty { return "A viewer" }
        return isLong ? words + "…" : words
    }
}
