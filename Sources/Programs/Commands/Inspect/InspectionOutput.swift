import CommandLine
import Glibc
import Inspection

/// Writes the findings of an inspection to standard output, in large pieces. For one thread.
final class InspectionOutput {
    private let isJSON: Bool
    private let isSummaryOnly: Bool
    private let contents: InspectionTable.Contents
    private let table: InspectionTable
    private var text = ""
    private var hasHeading = false
    private static let pieceCount = 32 << 10

    /// The errno of a failed write, after which nothing more is written.
    private(set) var failure: Int32?

    init(isJSON: Bool, contents: InspectionTable.Contents, isSummaryOnly: Bool) {
        self.isJSON = isJSON
        self.isSummaryOnly = isSummaryOnly
        self.contents = contents
        table = InspectionTable(contents)
    }

    func show(_ rows: [InspectedRow]) {
        for row in rows where isShown(row) {
            if !isJSON, !isSummaryOnly, !hasHeading {
                hasHeading = true
                text += table.heading
            }
            text += isJSON ? InspectionJSON.line(row) : table.text(row)
        }
        if text.utf8.count >= Self.pieceCount { flush() }
    }

    /// Writes the summary and everything that is still buffered.
    func finish(_ summary: StreamSummary, form: String) {
        if isJSON {
            text += InspectionJSON.line(summary, form: form)
        } else {
            text += (hasHeading ? "\n" : "") + summary.text(form: form, listsFaults: isSummaryOnly)
        }
        flush()
    }

    func flush() {
        defer { text.removeAll(keepingCapacity: true) }
        guard failure == nil, !text.isEmpty, !writeAll(Array(text.utf8), to: 1) else { return }
        failure = errno
    }

    /// The program's exit code. Reports a failed write.
    func exitCode(isDamaged: Bool) -> Int32 {
        // A reader that stops early, such as `head`, is no error.
        if let failure, failure != EPIPE {
            return Program.fail("standard output: \(String(cString: strerror(failure)))", .inputOutput)
        }
        return (isDamaged ? ExitCode.badData : .success).rawValue
    }

    private func isShown(_ row: InspectedRow) -> Bool {
        guard isSummaryOnly else { return !(isJSON && contents == .pictures) || !row.isMessage }
        return false
    }
}

extension InspectedRow {
    fileprivate var isMessage: Bool {
        if case .message = self { true } else { false }
    }
}
