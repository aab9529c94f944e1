import Glibc
import TestSupport
import Testing

/// A table of what was seen and heard, with a column for each way out, as Markdown has it.
struct WaysTable {
    static let failing = "failing"

    /// What its first column is called.
    let corner: String
    var rows: [(name: String, cells: [WayOut: String])] = []

    init(corner: String) { self.corner = corner }

    private var lines: [String] {
        let head = [corner] + WayOut.allCases.map(\.rawValue)
        return ([head] + rows.map { row in [row.name] + WayOut.allCases.map { row.cells[$0] ?? "" } }).map {
            "| " + $0.joined(separator: " | ") + " |"
        }
    }

    /// Prints it and how many cells were tested, and expects that none fails, and that the document's section has it.
    func compare(withSection title: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let cells = rows.flatMap { $0.cells.values }
        let (failed, unsupported) = (cells.count { $0 == Self.failing }, cells.count { $0.hasPrefix("no (") })
        let elsewhere = cells.filter { $0.hasPrefix("`") }
        print(lines.joined(separator: "\n"))
        print(
            "\(title): tested \(cells.count - unsupported - elsewhere.count), by other tests \(elsewhere.count), "
                + "unsupported \(unsupported), failing \(failed)")
        for name in Set(elsewhere) {
            let path = "\(packageRoot)/Tests/EndToEndTests/*/\(name.filter { $0 != "`" }).swift"
            var found = glob_t()
            let isThere = glob(path, 0, nil, &found) == 0
            globfree(&found)
            #expect(isThere, "\(path)", sourceLocation: sourceLocation)
        }
        #expect(failed == 0, sourceLocation: sourceLocation)
        let bytes = (try? fileBytes(packageRoot + "/Documentation/peers.md")) ?? []
        let document = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        let section = document.drop { $0 != "## \(title)" }.dropFirst().prefix { !$0.hasPrefix("## ") }.filter {
            $0.hasPrefix("| ") && !$0.hasPrefix("| --")
        }
        #expect(Array(section) == lines, sourceLocation: sourceLocation)
    }
}
