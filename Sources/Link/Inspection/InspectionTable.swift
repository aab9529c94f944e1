import ByteCoding
import CaptureLink
import H264
import MediaTypes

/// Formats rows as the lines of a table for people. Lines have at most 100 columns, and numbers are right-aligned.
///
/// Column widths are fixed, because rows are shown as they are found.
public struct InspectionTable: Sendable {
    /// The rows to show. Faults are always shown.
    public enum Contents: Sendable {
        case messages
        case pictures
    }

    /// The longest line, unless a single word is longer.
    public static let width = 100

    private let contents: Contents
    private let columns: [Column]

    private struct Column: Sendable {
        let name: String
        let width: Int
        var isNumber = true
    }

    /// Creates a table of messages or of pictures.
    public init(_ contents: Contents) {
        self.contents = contents
        switch contents {
        case .messages:
            columns = [
                Column(name: "offset", width: 10), Column(name: "time s", width: 9),
                Column(name: "message", width: 12, isNumber: false), Column(name: "bytes", width: 8),
                Column(name: "pic", width: 6), Column(name: "type", width: 4, isNumber: false),
                Column(name: "qp", width: 2),
            ]
        case .pictures:
            columns = [
                Column(name: "picture", width: 7), Column(name: "offset", width: 10), Column(name: "time s", width: 9),
                Column(name: "type", width: 4, isNumber: false), Column(name: "bytes", width: 9),
                Column(name: "slices", width: 6), Column(name: "qp", width: 5), Column(name: "frame", width: 6),
                Column(name: "order", width: 6),
            ]
        }
    }

    /// The heading of the table.
    public var heading: String {
        lines(columns.map(\.name), contents == .messages ? "what it says" : "damage").joined(separator: "\n") + "\n"
    }

    /// The lines of a row, each with a line feed; empty if the row isn't shown.
    public func text(_ row: InspectedRow) -> String {
        let shown: [String]
        switch (row, contents) {
        case (.message(let message), .messages): shown = lines(cells(message), message.text)
        case (.picture(let picture), .pictures): shown = lines(cells(picture), picture.damage?.text ?? "")
        case (.fault(let fault), _): shown = Self.wrapped("! \(fault)", first: "", rest: "  ")
        case (.note(let note), .messages):
            shown = lines(["\(note.offset)", note.time.map { DecimalText.seconds($0) } ?? ""], note.text)
        default: return ""
        }
        return shown.joined(separator: "\n") + "\n"
    }

    /// Short forms of names that don't fit into their column.
    private static let shortNames = ["pointerPosition": "pointer"]

    private func cells(_ message: InspectedMessage) -> [String] {
        let isUnit = message.kindCode == 0
        let isOfSound = message.stream == MessageHeader.soundStream
        let name =
            isUnit
            ? message.nalUnitType?.tableName ?? (isOfSound ? "sound" : "NAL unit")
            : Self.shortNames[message.kindName] ?? message.kindName
        return [
            "\(message.offset)", message.time.map { DecimalText.seconds($0) } ?? "", name, "\(message.size)",
            message.picture.map { "\($0)" } ?? "", message.slice?.kind.description ?? "",
            message.qp.map { "\($0)" } ?? "",
        ]
    }

    private func cells(_ picture: InspectedPicture) -> [String] {
        [
            "\(picture.number)", "\(picture.offset)", picture.time.map { DecimalText.seconds($0) } ?? "",
            picture.kindName, "\(picture.size)", "\(picture.slices)", picture.qps.map(Self.text) ?? "",
            picture.frameNumber.map { "\($0)" } ?? "", picture.orderCount.map { "\($0)" } ?? "",
        ]
    }

    static func text(_ qps: ClosedRange<Int>) -> String {
        qps.count == 1 ? "\(qps.lowerBound)" : "\(qps.lowerBound)-\(qps.upperBound)"
    }

    /// Formats cells in columns, followed by `text`, which wraps in a column of its own.
    private func lines(_ cells: [String], _ text: String) -> [String] {
        var line = ""
        // If only the first cells are given, the text follows them directly.
        for (column, cell) in zip(columns, cells) {
            let space = String(repeating: " ", count: max(0, column.width - cell.count))
            line += (column.isNumber ? space + cell : cell + space) + "  "
        }
        let indent = String(repeating: " ", count: columns.reduce(0) { $0 + $1.width + 2 })
        return Self.wrapped(text, first: line, rest: indent)
    }

    /// Breaks `text` at spaces. The first line starts with `first`, all others with `rest`. Control characters are made
    /// visible, and no line ends with spaces.
    static func wrapped(_ text: String, first: String, rest: String) -> [String] {
        var lines: [String] = []
        var line = first
        var isFresh = true
        for word in visible(text).split(separator: " ") {
            if !isFresh, line.count + 1 + word.count > width {
                lines.append(line)
                line = rest
                isFresh = true
            }
            line += (isFresh ? "" : " ") + word
            isFresh = false
        }
        while line.last == " " { line.removeLast() }
        lines.append(line)
        return lines
    }

    /// Replaces control characters, because text from a sender must not move the cursor.
    static func visible(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value)
            result.unicodeScalars.append(isControl ? "\u{FFFD}" : scalar)
        }
        return result
    }
}

extension NALUnitType {
    /// The name in the table, including types that the link doesn't use.
    var tableName: String {
        switch self {
        case .dataPartitionA: "partition A"
        case NALUnitType(rawValue: 3): "partition B"
        case NALUnitType(rawValue: 4): "partition C"
        case .endOfSequence: "end of seq."
        case .endOfStream: "stream end"
        case .fillerData: "filler"
        default: isUnspecified || rawValue > 12 ? "NAL type \(rawValue)" : description
        }
    }
}
