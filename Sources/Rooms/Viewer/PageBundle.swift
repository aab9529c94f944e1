/// The files of the page joined into one document, so that a browser gets all of it in one answer.
///
/// The files also work separately: `index.html` names its style sheets and its first module, and modules import each
/// other. All do so by name alone: the folders of `page` are for readers, and to a browser all files are in one. Only a
/// plain style is understood, with each of these statements in a line of its own. Anything else is a fault, which the
/// tests find.
struct PageBundle {
    /// Why the files can't be joined.
    enum Fault: Error, Equatable {
        case missing(file: String)
        /// This module imports itself, directly or through others.
        case circle(file: String)
        case notUnderstood(file: String, line: String)
    }

    /// The document.
    private(set) var html = ""
    /// The contents of its script elements.
    private(set) var scripts: [String] = []
    /// The content of its style element.
    private(set) var style = ""
    /// The modules that the page loads later, by `import("./name.js")`, each with all that it imports and the page
    /// doesn't have, by their names.
    private(set) var later: [String: String] = [:]

    /// - Parameter file: returns the text of a file by its name, such as `page.js`.
    init(_ index: String, file: @escaping (String) -> String?) throws(Fault) {
        var inlineScript: String?
        for line in index.split(separator: "\n").map(\.withoutIndent) {
            if let script = inlineScript {
                if line == "</script>" {
                    scripts.append(script)
                    html += script + line + "\n"
                    inlineScript = nil
                } else if !line.hasPrefix("//") {
                    inlineScript = script + line + "\n"
                }
            } else if line == "<script>" {
                inlineScript = "\n"
                html += line
            } else if let name = line.between("<link rel=\"stylesheet\" href=\"", "\">") {
                guard let sheet = file(String(name)) else { throw .missing(file: String(name)) }
                style += try Self.rules(of: sheet, file: String(name))
            } else if let name = line.between("<script type=\"module\" src=\"", "\"></script>") {
                var modules = ModuleBundle(file: file)
                try modules.add(String(name))
                later = try modules.takeLater()
                scripts.append(modules.script)
                html += "<script type=\"module\">\(modules.script)</script>\n"
            } else if line.contains("<script") || line.contains("<style") {
                throw .notUnderstood(file: "index.html", line: String(line))
            } else {
                if line == "</head>" { html += "<style>\(style)</style>\n" }
                html += line + "\n"
            }
        }
    }

    /// The page whose files stay separate, and which loads them one by one.
    init(separate index: String) {
        html = index
        let parts = index.split(separator: "<script>", omittingEmptySubsequences: false).dropFirst()
        scripts = parts.map { part in
            part.firstRange(of: "</script>").map { String(part[..<$0.lowerBound]) } ?? String(part)
        }
    }

    /// The lines of a style sheet without indents and comments, which have lines of their own.
    private static func rules(of sheet: String, file: String) throws(Fault) -> String {
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

/// Modules as one script, in which each module is a function. So the names that they don't export can't collide.
private struct ModuleBundle {
    private(set) var script = "\n"
    /// Returns the text of a file by its name.
    private let file: (String) -> String?
    /// The modules met so far, and whether the script has them yet.
    private var isComplete: [String: Bool] = [:]
    /// What each module exports.
    private var exports: [String: [Substring]] = [:]
    /// The modules that are loaded later.
    private var laterNames: [String] = []
    /// The modules of the page that this script uses, which isn't the page's own.
    private var used: [String] = []
    private var ownNames: Set<String> = []
    private var isLater = false

    init(file: @escaping (String) -> String?) {
        self.file = file
    }

    /// Appends the module `name`, after all that it imports. Whole-line comments are left out.
    mutating func add(_ name: String) throws(PageBundle.Fault) {
        if let isComplete = isComplete[name] {
            guard isComplete else { throw .circle(file: name) }
            if isLater, !ownNames.contains(name), !used.contains(name) { used.append(name) }
            return
        }
        ownNames.insert(name)
        guard let text = file(name) else { throw .missing(file: name) }
        isComplete[name] = false
        var body = ""
        var exports: [Substring] = []
        var isComment = false
        for line in text.split(separator: "\n") {
            let statement = line.withoutIndent
            // In a text of several lines, a line may look like a comment or an import.
            guard line.count(where: { $0 == "`" }).isMultiple(of: 2), !line.contains("</script") else {
                throw Self.fault(name, line)
            }
            if isComment || statement.hasPrefix("/*") {
                isComment = !statement.contains("*/")
                guard isComment || statement.hasSuffix("*/") else { throw Self.fault(name, line) }
            } else if statement.hasPrefix("//") {
                continue
            } else if line.hasPrefix("import") {
                let parts = line.split(separator: "\"")
                guard parts.count == 3, parts[2] == ";", let names = parts[0].between("import { ", " } from "),
                    parts[1].hasPrefix("./")
                else { throw Self.fault(name, line) }
                let module = parts[1].dropFirst(2)
                try add(String(module))
                body += "const { \(names.replacing(" as ", with: ": ")) } = \(Self.constant(of: module));\n"
            } else if line.hasPrefix("export") {
                let words = line.split(separator: " ", maxSplits: 3)
                guard words.count == 4, ["class", "const", "function"].contains(words[1]) else {
                    throw Self.fault(name, line)
                }
                exports.append(words[2].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
                body += line.dropFirst("export ".count) + "\n"
            } else {
                if let start = statement.firstRange(of: "import(\"./"),
                    let end = statement[start.upperBound...].firstRange(of: "\")")
                {
                    laterNames.append(String(statement[start.upperBound..<end.lowerBound]))
                }
                body += statement + "\n"
            }
        }
        isComplete[name] = true
        self.exports[name] = exports
        script += "const \(Self.constant(of: name[...])) = (() => {\n\(body)"
        script += "return { \(exports.joined(separator: ", ")) };\n})();\n"
    }

    /// Makes a script of each module that is loaded later. What they use of the page is passed on in `window.parts`.
    mutating func takeLater() throws(PageBundle.Fault) -> [String: String] {
        var scripts: [String: String] = [:]
        var shared: [String] = []
        for name in laterNames {
            var bundle = self
            (bundle.script, bundle.ownNames, bundle.isLater) = ("", [], true)
            try bundle.add(name)
            let parts = bundle.used.map { Self.constant(of: $0[...]) }
            shared += parts.filter { !shared.contains($0) }
            let taken = parts.isEmpty ? "" : "const { \(parts.joined(separator: ", ")) } = window.parts;\n"
            let names = (bundle.exports[name] ?? []).joined(separator: ", ")
            scripts[name] = taken + bundle.script + "export const { \(names) } = \(Self.constant(of: name[...]));\n"
        }
        if !shared.isEmpty { script += "window.parts = { \(shared.joined(separator: ", ")) };\n" }
        return scripts
    }

    /// The name of the constant that has what a module exports.
    private static func constant(of module: Substring) -> String {
        "$" + module.prefix { $0 != "." }
    }

    private static func fault(_ name: String, _ line: Substring) -> PageBundle.Fault {
        .notUnderstood(file: name, line: String(line))
    }
}

extension Substring {
    fileprivate var withoutIndent: Substring { drop { $0 == " " } }

    /// What stands between `prefix`, with which the text must begin, and `suffix`, with which it must end.
    fileprivate func between(_ prefix: String, _ suffix: String) -> Substring? {
        guard hasPrefix(prefix), hasSuffix(suffix), count >= prefix.count + suffix.count else { return nil }
        return dropFirst(prefix.count).dropLast(suffix.count)
    }
}
