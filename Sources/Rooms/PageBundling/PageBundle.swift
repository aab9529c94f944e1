/// The files of the page joined into one document, so that a browser gets all of it in one answer.
///
/// The files also work separately: `index.html` names its style sheets and its first module, and modules import each
/// other by relative paths. Only a plain style is understood, with each of these statements in a line of its own.
/// Anything else is a fault, which ends the build.
public struct PageBundle {
    /// The document in pieces, in order.
    public enum Piece: Equatable {
        case markup(String)
        /// The content of the style element.
        case style(String)
        /// The content of a script element.
        case script(String)

        /// The piece's text without its kind.
        public var text: String {
            switch self {
            case .markup(let text), .style(let text), .script(let text): text
            }
        }
    }

    /// The document's pieces, which joined are ``html``.
    public private(set) var pieces: [Piece] = []
    /// The modules that the page loads later, by `import("./name.js")`, each with all that it imports and the page
    /// doesn't have, by their paths.
    public private(set) var later: [String: String] = [:]

    /// The whole document.
    public var html: String { pieces.map(\.text).joined() }

    /// Joins the files that `index` names.
    ///
    /// - Parameter file: returns the text of a file by its path from `index.html`, such as `view/bar.js`.
    /// - Throws: ``PageError`` that names the file and line that it doesn't understand, or the file that is missing.
    public init(_ index: String, file: @escaping (String) -> String?) throws(PageError) {
        var inlineScript: String?
        var style = ""
        for line in index.split(separator: "\n").map(\.withoutIndent) {
            if let script = inlineScript {
                if line == "</script>" {
                    pieces.append(.script(script))
                    write("</script>\n")
                    inlineScript = nil
                } else if !line.hasPrefix("//") {
                    inlineScript = script + line + "\n"
                }
            } else if line == "<script>" {
                inlineScript = "\n"
                write("<script>")
            } else if let name = line.between("<link rel=\"stylesheet\" href=\"", "\">") {
                guard let sheet = file(String(name)) else { throw .missing(file: String(name)) }
                style += try Self.rules(of: sheet, file: String(name))
            } else if let name = line.between("<script type=\"module\" src=\"", "\"></script>") {
                var modules = ModuleBundle(file: file)
                try modules.add(String(name))
                later = try modules.takeLater()
                write("<script type=\"module\">")
                pieces.append(.script(modules.script))
                write("</script>\n")
            } else if line.contains("<script") || line.contains("<style") {
                throw .notUnderstood(file: "index.html", line: String(line))
            } else {
                if line == "</head>" {
                    write("<style>")
                    pieces.append(.style(style))
                    write("</style>\n")
                }
                write(line + "\n")
            }
        }
    }

    private mutating func write(_ text: some StringProtocol) {
        if case .markup(let before) = pieces.last {
            pieces[pieces.count - 1] = .markup(before + text)
        } else {
            pieces.append(.markup(String(text)))
        }
    }

    /// The lines of a style sheet without indents and comments, which have lines of their own.
    private static func rules(of sheet: String, file: String) throws(PageError) -> String {
        var rules = ""
        var isComment = false
        for line in sheet.split(separator: "\n") {
            let rule = line.withoutIndent
            if isComment || rule.hasPrefix("/*") {
                isComment = !rule.contains("*/")
                guard isComment || rule.hasSuffix("*/") else { throw .notUnderstood(file: file, line: String(line)) }
            } else {
                rules += rule + "\n"
            }
        }
        return rules
    }
}

extension Substring {
    var withoutIndent: Substring { drop { $0 == " " } }

    /// The text between `prefix`, with which the text must begin, and `suffix`, with which it must end.
    func between(_ prefix: String, _ suffix: String) -> Substring? {
        guard hasPrefix(prefix), hasSuffix(suffix), count >= prefix.count + suffix.count else { return nil }
        return dropFirst(prefix.count).dropLast(suffix.count)
    }
}
