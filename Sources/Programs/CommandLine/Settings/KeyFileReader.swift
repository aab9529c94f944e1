/// Reads the lines of a key file (Desktop Entry Specification): groups such as `[share]`, and in them `KEY=VALUE`.
///
/// GLib reads them too, but doesn't say in which line a group, a key or a mistake is.
struct KeyFileReader {
    private typealias Line = Substring.UnicodeScalarView

    private(set) var document: SettingsDocument
    /// The index of each entry, by its group and key. If a key appears twice in a group, the last one counts.
    private var places: [String: Int] = [:]

    init(_ text: String, path: String) throws(SettingsFileError) {
        document = SettingsDocument(path: path, groups: [], entries: [])
        let lines = text[...].unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() { try add(line, number: index + 1) }
    }

    private mutating func add(_ line: Line, number: Int) throws(SettingsFileError) {
        var line = line.drop(while: Self.isSpace)
        if line.last == "\r" { line.removeLast() }
        guard let first = line.first, first != "#" else { return }
        if first == "[" {
            guard let name = Self.groupName(line) else {
                throw fault(line, number, "is not a group; write it like [share]")
            }
            return document.groups.append((name, number))
        }
        guard let equals = line.firstIndex(of: "="), equals != line.startIndex else {
            throw fault(line, number, "is not a setting; write it like fps=20, or put # in front of a comment")
        }
        guard let group = document.groups.last?.name else {
            throw fault(line, number, "is not in a group; put one before it, such as [all] or [share]")
        }
        let key = String(Self.trimmed(line[..<equals]))
        let value = line[equals...].dropFirst().drop(while: Self.isSpace)
        let entry = SettingsDocument.Entry(
            group: group, key: key, text: Self.items(of: value, separator: nil).map { $0.joined() },
            list: Self.items(of: value, separator: ";"), line: number)
        if let place = places["\(group)]\(key)"] {
            document.entries[place] = entry
        } else {
            places["\(group)]\(key)"] = document.entries.count
            document.entries.append(entry)
        }
    }

    private func fault(_ line: Line, _ number: Int, _ reason: String) -> SettingsFileError {
        .misplaced(path: document.path, line: number, reason: "'\(withoutURL(String(line)).prefix(60))' \(reason)")
    }

    private static func groupName(_ line: Line) -> String? {
        let line = trimmed(line)
        let name = line.dropFirst().dropLast()
        guard line.last == "]", !name.isEmpty,
            name.allSatisfy({ $0 != "[" && $0 != "]" && $0.value >= 0x20 && $0.value != 0x7F })
        else { return nil }
        return String(name)
    }

    /// A value's items, which end with `separator`, without their escapes; nil if there is an unknown escape. Without a
    /// separator, all of it is one item.
    private static func items(of value: Line, separator: Unicode.Scalar?) -> [String]? {
        let escapes: [Unicode.Scalar: Unicode.Scalar] = ["s": " ", "n": "\n", "t": "\t", "r": "\r", "\\": "\\"]
        var items: [String] = []
        var item = String.UnicodeScalarView()
        var rest = value
        while let scalar = rest.popFirst() {
            if scalar == separator {
                items.append(String(item))
                item = String.UnicodeScalarView()
            } else if scalar != "\\" {
                item.append(scalar)
            } else if let code = rest.popFirst(), let meant = code == separator ? code : escapes[code] {
                item.append(meant)
            } else {
                return nil
            }
        }
        return item.isEmpty ? items : items + [String(item)]
    }

    private static func trimmed(_ line: Line) -> Line {
        var line = line
        while let last = line.last, isSpace(last) { line.removeLast() }
        return line
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar.isASCII && scalar.properties.isWhitespace }
}
