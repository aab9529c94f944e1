import MediaTypes

/// A kind of groups of a settings file that have names of their own: each `[push NAME]` is one push.
public struct NamedGroup: Sendable {
    /// The word before the name.
    public var kind: String
    /// What such a group is, without a full stop at the end.
    public var help: String
    /// The names of the commands that use these groups.
    public var commands: [String]
    /// What stands in them, under their long names. No command line has these options.
    public var keys: [Option]

    /// A kind of groups with these properties.
    public init(kind: String, help: String, commands: [String], keys: [Option]) {
        self.kind = kind
        self.help = help
        self.commands = commands
        self.keys = keys
    }

    /// The name in a group's title, or nil if that group isn't of this kind.
    fileprivate func name(in title: String) -> String? {
        if title == kind { return "" }
        guard title.hasPrefix(kind + " ") else { return nil }
        return String(title.dropFirst(kind.count).drop { $0 == " " })
    }
}

/// One group with a name, as a settings file has it.
public struct SettingsGroup: Sendable {
    /// The word before the name.
    public let kind: String
    /// The group's own name, such as `desk` of `[push desk]`.
    public let name: String
    /// The position for error messages, such as "/home/ann/.config/screenrelay/config:7: [push desk]".
    public let place: String
    private var settings: [String: CommandSettings.Setting] = [:]

    fileprivate init(kind: String, name: String, place: String) {
        self.kind = kind
        self.name = name
        self.place = place
    }

    fileprivate mutating func set(_ key: String, _ setting: CommandSettings.Setting) { settings[key] = setting }

    /// The text of a key, or nil if the group doesn't have it.
    public func value(_ key: String) -> String? { settings[key]?.values.last }

    /// The value of a key as `format` reads it, or nil if the group doesn't have it. Throws ``UsageError`` that names
    /// the place of the key if `format` rejects the value.
    public func value<Value>(_ key: String, as format: ValueFormat<Value>) throws(UsageError) -> Value? {
        guard let text = value(key) else { return nil }
        return try format.read(text, option: place(of: key))
    }

    /// The position of a key for error messages, with its group.
    public func place(of key: String) -> String { settings[key]?.place ?? place }
}

extension CommandSet {
    /// Whether a group's title is a kind's word and a name, right or wrong.
    func isNamed(_ title: String) -> Bool { namedGroup(title) != nil }

    /// All groups with names in `document`, in its order.
    ///
    /// - Throws: an error for a name that isn't one or appears twice, an unknown key, or a key without a value.
    func groupsWithNames(in document: SettingsDocument) throws(UsageError) -> [SettingsGroup] {
        var found: [SettingsGroup] = []
        for (title, line) in document.groups {
            guard let (kind, text) = namedGroup(title) else { continue }
            let place = "\(document.path):\(line)"
            // A URL is no name, and not shown.
            let name = try ValueFormat<String>.plainName("name").read(
                withoutURL(text), option: "\(place): \(kind.kind)")
            guard !found.contains(where: { $0.kind == kind.kind && $0.name == name }) else {
                throw UsageError("\(place): [\(kind.kind) \(name)] is there twice; give each its own name")
            }
            var group = SettingsGroup(kind: kind.kind, name: name, place: "\(place): [\(kind.kind) \(name)]")
            for entry in document.entries where entry.group == title {
                let label = "\(document.path):\(entry.line): [\(kind.kind) \(name)]"
                guard let key = kind.keys.first(where: { $0.long == entry.key }) else {
                    let names = kind.keys.map(\.long)
                    let near = nearest(to: entry.key, among: names).map { "did you mean \($0)? " } ?? ""
                    throw UsageError(
                        "\(label): unknown setting '\(printable(withoutURL(entry.key)))'; \(near)"
                            + "they are \(names.joined(separator: ", "))")
                }
                let keyPlace = "\(label) \(entry.key)"
                if let values = try key.values(of: entry, keyPlace) {
                    group.set(entry.key, CommandSettings.Setting(values: values, place: keyPlace))
                }
                try document.checkPrivacy(of: key, keyPlace)
            }
            found.append(group)
        }
        return found
    }

    private func namedGroup(_ title: String) -> (kind: NamedGroup, name: String)? {
        for kind in namedGroups {
            if let name = kind.name(in: title) { return (kind, name) }
        }
        return nil
    }
}

extension SettingsDocument {
    /// Checks that only the file's owner can read the secret of `option`.
    func checkPrivacy(of option: Option, _ place: String) throws(UsageError) {
        guard option.isSecret, !isPrivate else { return }
        throw UsageError(
            "\(place) may have a secret, and others can read the file, or it belongs to another user; "
                + "make it your own (chown), and run chmod 600 \(path)", exitCode: .permission)
    }
}

/// The text up to a URL, which may have a secret.
func withoutURL(_ text: String) -> String {
    guard let mark = text.firstPosition(of: "://") else { return text }
    return "\(text[..<mark])://..."
}
