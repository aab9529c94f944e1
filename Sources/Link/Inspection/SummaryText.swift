import ByteCoding
import CaptureLink
import H264
import MediaTypes

extension StreamSummary {
    /// The summary as lines for people, at most 100 columns wide.
    ///
    /// - Parameters:
    ///   - form: The format of the file in words; nil leaves the line out.
    ///   - listsFaults: Whether the first fault of each kind is described, and not only the number of faults given.
    public func text(form: String?, listsFaults: Bool = true) -> String {
        var lines: [(String, String)] = []
        if let form { lines.append(("stream", form)) }
        for hello in hellos { lines.append(("from", "\(hello.role), version \(hello.version), '\(hello.name)'")) }
        if hasLinkMessages { lines.append(("messages", messageText)) }
        if !nalUnits.isEmpty { lines.append(("NAL units", nalUnitText)) }
        lines.append(("pictures", pictureText))
        if let duration { lines.append(("time", timeText(duration))) }
        if pictures > 0 { lines.append(("size", sizeText)) }
        if let qpRange, let meanQP {
            let range = qpRange.count == 1 ? "" : ", \(InspectionTable.text(qpRange))"
            lines.append(("quantizer", DecimalText.fixed(meanQP, digits: 1) + " on average" + range))
        }
        if let meanDamage {
            lines.append(("damage", "\(DecimalText.fixed(meanDamage * 100, digits: 1)) % of the picture on average"))
        }
        if pictures > 0 { lines.append(("IDR", idrText)) }
        for entry in sequences {
            let often = entry.count == 1 ? "once" : "\(entry.count) times"
            lines.append(
                (
                    "SPS \(entry.sequence.id)",
                    entry.sequence.clauses.joined(separator: ", ") + "; \(often), first at byte \(entry.offset)"
                ))
        }
        if sound.packets > 0 { lines.append(("sound", soundText)) }
        if let ending {
            lines.append(("ended by", "the sender: \(ending.reason)" + (ending.text.isEmpty ? "" : ", \(ending.text)")))
        }
        if let endOffset {
            lines.append(
                ("ends at", "byte \(endOffset)" + (lacksEnd ? ", where its recorder was killed, or still writes" : "")))
        }
        lines += listsFaults ? faultLines : [("faults", faultCount == 0 ? "none" : "\(faultCount), see above")]
        let column = 11
        return lines.flatMap { name, text in
            let head = name + String(repeating: " ", count: max(1, column - name.count))
            return InspectionTable.wrapped(text, first: head, rest: String(repeating: " ", count: column))
        }.joined(separator: "\n") + "\n"
    }

    private var messageText: String {
        let total = messages.values.reduce(0, &+)
        let others = messages.keys.filter { $0 != 0 }.sorted().compactMap { code in
            messages[code].map { "\($0) \(MessageFormatter.name(ofKind: code) ?? "of kind \(code)")" }
        }
        var text = "\(total) with \(DecimalText.grouped(payloadBytes)) bytes"
        if !others.isEmpty { text += ": " + (["\(messages[0] ?? 0) NAL units"] + others).joined(separator: ", ") }
        if epochs > 1 { text += "; \(epochs) starts of capture" }
        return text
    }

    private var nalUnitText: String {
        nalUnits.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.value) \($0.key.tableName)" }
            .joined(separator: ", ")
    }

    private var pictureText: String {
        guard pictures > 0 else { return "none" }
        let kinds = ["IDR", "I", "P", "B", "SP", "SI", "?"].compactMap { name in
            pictureKinds[name].map { "\($0) \(name)" }
        }
        return "\(pictures): " + kinds.joined(separator: ", ") + "; \(slices) slices"
    }

    private func timeText(_ duration: Interval) -> String {
        var text = "\(DecimalText.seconds(duration)) s"
        if let pictureRate { text += ", \(DecimalText.fixed(pictureRate, digits: 2)) fps" }
        if let gap = maxGap {
            text += ", longest gap \(DecimalText.seconds(Interval(nanoseconds: gap.value))) s"
            text += place(gap, before: true)
        }
        return text
    }

    private var sizeText: String {
        var text = "\(DecimalText.grouped(pictureBytes)) bytes of pictures"
        if let bitRate {
            text +=
                ", \(Self.rate(bitRate)) on average, \(Self.rate(Double(peakSecondBytes) * 8)) in the busiest second"
        }
        if let largest {
            text +=
                ", largest picture \(DecimalText.grouped(UInt64(max(0, largest.value)))) bytes"
                + place(largest, before: false)
        }
        return text
    }

    private var idrText: String {
        guard idrDistance.count > 0 else {
            return (pictureKinds["IDR"] ?? 0) == 1 ? "one IDR picture" : "no IDR picture"
        }
        let mean = DecimalText.fixed(idrDistance.mean, digits: 1, trimmed: true)
        var text = mean == "1" ? "every picture" : "every \(mean) pictures on average"
        if idrDistance.least != idrDistance.greatest { text += " (\(idrDistance.least) to \(idrDistance.greatest))" }
        if idrInterval.count > 0 {
            text += ", at most \(DecimalText.seconds(Interval(nanoseconds: idrInterval.greatest))) s apart"
        }
        return text
    }

    private var soundText: String {
        let packets = sound.packets == 1 ? "1 packet" : "\(sound.packets) packets"
        return "\(packets) with \(DecimalText.grouped(sound.bytes)) bytes, \(DecimalText.seconds(sound.duration)) s"
    }

    private var faultLines: [(String, String)] {
        guard !faults.isEmpty else { return [("faults", "none")] }
        return InspectionFault.Code.allCases.compactMap { code in
            faults[code].map { entry in
                let often = entry.count == 1 ? "" : " (\(entry.count) of this kind)"
                return ("fault", "\(entry.first)\(often)")
            }
        }
    }

    private func place(_ extreme: Extreme, before: Bool) -> String {
        " (" + (before ? "before " : "") + "picture \(extreme.picture)"
            + (extreme.time.map { ", at \(DecimalText.seconds($0)) s" } ?? "") + ")"
    }

    private static func rate(_ bitsPerSecond: Double) -> String {
        bitsPerSecond >= 1e6
            ? "\(DecimalText.fixed(bitsPerSecond / 1e6, digits: 2)) Mbit/s"
            : "\(DecimalText.fixed(bitsPerSecond / 1e3, digits: 1)) kbit/s"
    }
}
