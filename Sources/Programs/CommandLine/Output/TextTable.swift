/// A table for people: rows of cells in aligned columns.
public struct TextTable: Sendable {
    private var rows: [[String]] = []
    private let indent: Int

    /// A table without rows. Each row will begin with `indent` spaces.
    public init(indent: Int = 2) {
        self.indent = indent
    }

    /// Whether the table has no rows.
    public var isEmpty: Bool { rows.isEmpty }

    /// Adds a row. Control characters are made visible, and cells are cut to `limit` characters.
    public mutating func add(_ cells: [String], limit: Int = 60) {
        rows.append(
            cells.map { cell in
                let text = printable(cell)
                return text.count > limit ? text.prefix(limit - 1) + "…" : text
            })
    }

    /// The rows, each ended by a line feed, without trailing spaces.
    public var text: String {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column < widths.count {
                    widths[column] = max(widths[column], cell.count)
                } else {
                    widths.append(cell.count)
                }
            }
        }
        var text = ""
        for row in rows {
            var line = String(repeating: " ", count: indent)
            var owed = 0
            for (column, cell) in row.enumerated() {
                if !cell.isEmpty {
                    line += String(repeating: " ", count: owed) + cell
                    owed = 0
                }
                owed += widths[column] - cell.count + 2
            }
            text += line + "\n"
        }
        return text
    }
}
