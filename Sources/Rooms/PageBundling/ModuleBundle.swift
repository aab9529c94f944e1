/// Modules as one script, in which each module is a function. So the names that they don't export can't collide.
struct ModuleBundle {
    private(set) var script = "\n"
    /// Returns the text of a file by its path.
    private let file: (String) -> String?
    /// The modules met so far by their paths, and whether the script has them yet.
    private var isComplete: [String: Bool] = [:]
    /// What each module exports.
    private var exports: [String: [Substring]] = [:]
    /// The modules that are loaded later.
    private var laterPaths: [String] = []
    /// The modules of the page that this script uses, which isn't the page's own.
    private var used: [String] = []
    private var ownPaths: Set<String> = []
    private var isLater = false

    init(file: @escaping (String) -> String?) {
        self.file = file
    }

    /// Appends the module at `path`, after all that it imports. Whole-line comments are left out.
    mutating func add(_ path: String) throws(PageError) {
        if let isComplete = isComplete[path] {
            guard isComplete else { throw .circle(file: path) }
            if isLater, !ownPaths.contains(path), !used.contains(path) { used.append(path) }
            return
        }
        guard !isComplete.keys.contains(where: { Self.constant(of: $0) == Self.constant(of: path) }) else {
            throw .duplicateName(file: path)
        }
        ownPaths.insert(path)
        guard let text = file(path) else { throw .missing(file: path) }
        isComplete[path] = false
        var body = ""
        var exports: [Substring] = []
        var isComment = false
        for line in text.split(separator: "\n") {
            let statement = line.withoutIndent
            // In a text of several lines, a line may look like a comment or an import.
            guard line.count(where: { $0 == "`" }).isMultiple(of: 2), !line.contains("</script") else {
                throw Self.fault(path, line)
            }
            if isComment || statement.hasPrefix("/*") {
                isComment = !statement.contains("*/")
                guard isComment || statement.hasSuffix("*/") else { throw Self.fault(path, line) }
            } else if statement.hasPrefix("//") {
                continue
            } else if line.hasPrefix("import"), !line.hasPrefix("import(") {
                let parts = line.split(separator: "\"")
                guard parts.count == 3, parts[2] == ";", let names = parts[0].between("import { ", " } from "),
                    let module = Self.resolve(parts[1], from: path)
                else { throw Self.fault(path, line) }
                try add(module)
                body += "const { \(names.replacing(" as ", with: ": ")) } = \(Self.constant(of: module));\n"
            } else if line.hasPrefix("export") {
                let words = line.split(separator: " ", maxSplits: 3)
                guard words.count == 4, ["class", "const", "function"].contains(words[1]) else {
                    throw Self.fault(path, line)
                }
                exports.append(words[2].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
                body += line.dropFirst("export ".count) + "\n"
            } else if let start = statement.firstRange(of: "import(") {
                // The document, which has the script, stands at the top of the page's files.
                let parts = statement[start.upperBound...].split(
                    separator: "\"", maxSplits: 2, omittingEmptySubsequences: false)
                guard !isLater, parts.count == 3, parts[0].isEmpty, !parts[2].contains("import("),
                    let module = Self.resolve(parts[1], from: path)
                else { throw Self.fault(path, line) }
                laterPaths.append(module)
                body += statement[..<start.upperBound] + "\"./\(module)\"\(parts[2])\n"
            } else {
                body += statement + "\n"
            }
        }
        isComplete[path] = true
        self.exports[path] = exports
        script += "const \(Self.constant(of: path)) = (() => {\n\(body)"
        script += "return { \(exports.joined(separator: ", ")) };\n})();\n"
    }

    /// Makes a script of each module that is loaded later. What they use of the page is passed on in `window.parts`.
    mutating func takeLater() throws(PageError) -> [String: String] {
        var scripts: [String: String] = [:]
        var shared: [String] = []
        for path in laterPaths {
            var bundle = self
            (bundle.script, bundle.ownPaths, bundle.isLater) = ("", [], true)
            try bundle.add(path)
            let parts = bundle.used.map(Self.constant)
            shared += parts.filter { !shared.contains($0) }
            let taken = parts.isEmpty ? "" : "const { \(parts.joined(separator: ", ")) } = window.parts;\n"
            let names = (bundle.exports[path] ?? []).joined(separator: ", ")
            scripts[path] = taken + bundle.script + "export const { \(names) } = \(Self.constant(of: path));\n"
        }
        if !shared.isEmpty { script += "window.parts = { \(shared.joined(separator: ", ")) };\n" }
        return scripts
    }

    /// The path that a relative one, such as `../view/bar.js`, means in the module at `path`; nil if it isn't relative,
    /// or leads out of the page.
    private static func resolve(_ relative: Substring, from path: String) -> String? {
        guard relative.hasPrefix("./") || relative.hasPrefix("../") else { return nil }
        var parts = path.split(separator: "/").dropLast()
        for part in relative.split(separator: "/") where part != "." {
            if part != ".." {
                parts.append(part)
            } else if parts.popLast() == nil {
                return nil
            }
        }
        return parts.joined(separator: "/")
    }

    /// The name of the constant that has a module's exports.
    private static func constant(of path: String) -> String {
        "$" + path.split(separator: "/").suffix(1).joined().prefix { $0 != "." }
    }

    private static func fault(_ path: String, _ line: Substring) -> PageError {
        .notUnderstood(file: path, line: String(line))
    }
}
