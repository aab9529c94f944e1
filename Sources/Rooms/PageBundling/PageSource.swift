/// The page as Swift, for the build to compile into the host.
public enum PageSource {
    /// - Parameters:
    ///   - bundle: the page in one piece.
    ///   - files: the texts of the files that are also served each by itself, by their paths.
    public static func text(_ bundle: PageBundle, files: [String: String]) -> String {
        let pieces = bundle.pieces.map { piece in
            switch piece {
            case .markup(let text): ".markup(\(literal(text)))"
            case .style(let text): ".style(\(literal(text)))"
            case .script(let text): ".script(\(literal(text)))"
            }
        }
        return """
            // Made by embed-page of the files in Viewer/page.
            enum EmbeddedPage {
            static let document: [PagePiece] = [\(pieces.joined(separator: ", "))]
            static let later: KeyValuePairs<String, String> = \(table(bundle.later))
            static let files: KeyValuePairs<String, String> = \(table(files))
            }

            """
    }

    private static func table(_ texts: [String: String]) -> String {
        guard !texts.isEmpty else { return "[:]" }
        let entries = texts.sorted { $0.key < $1.key }.map { "\(literal($0.key)): \(literal($0.value))" }
        return "[\(entries.joined(separator: ",\n"))]"
    }

    /// A raw literal of several lines, in which nothing of `text` has a meaning.
    static func literal(_ text: String) -> String {
        var marks = "#"
        while text.contains("\"\"\"" + marks) || text.contains("\\" + marks) { marks += "#" }
        return "\(marks)\"\"\"\n\(text)\n\"\"\"\(marks)"
    }
}
