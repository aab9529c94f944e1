/// What a settings file says for one command: options by their long names.
public struct CommandSettings: Sendable {
    /// One option's values, and where they stand.
    public struct Setting: Sendable {
        /// As a command line would have them; of a switch one that is empty.
        public var values: [String]
        /// As "/home/ann/.config/screenrelay/config:7: fps".
        public var place: String
    }

    /// By long name.
    public private(set) var options: [String: Setting] = [:]

    /// No settings.
    public init() {}

    /// Sets an option, whatever it was.
    mutating func set(_ long: String, _ setting: Setting) { options[long] = setting }
    /// Leaves an option as it is without a file.
    mutating func remove(_ long: String) { options[long] = nil }
}

/// A settings file as it was read (a key file, as the Desktop Entry Specification has it), before it is known what its keys mean.
public struct SettingsDocument: Sendable {
    /// A key and its value.
    public struct Entry: Sendable {
        public var group: String
        public var key: String
        /// The value as one text; nil where it can't be read as such.
        public var text: String?
        /// The value as a list, whose items end with `;`; nil where it can't be read as such.
        public var list: [String]?
        /// The line that it stands in, counted from 1.
        public var line: Int

        /// An entry made of its parts.
        public init(group: String, key: String, text: String?, list: [String]?, line: Int) {
            self.group = group
            self.key = key
            self.text = text
            self.list = list
            self.line = line
        }
    }

    /// Where it is, for errors.
    public var path: String
    /// Groups and the lines that begin them, those without a key too.
    public var groups: [(name: String, line: Int)]
    /// All keys.
    public var entries: [Entry]

    /// A document made of its parts.
    public init(path: String, groups: [(name: String, line: Int)], entries: [Entry]) {
        self.path = path
        self.groups = groups
        self.entries = entries
    }
}

extension CommandSet {
    /// The group of a settings file that holds for each command that has such an option.
    public static let groupForAll = "all"

    /// What `document` says for the command `name`. Its own group wins over the one for all.
    ///
    /// - Throws: where any group or key of the file is unknown, or any value can't be one, whichever command it is for: a slip
    ///   must not wait for the day on which that command is used.
    public func settings(in document: SettingsDocument, for name: String) throws(UsageError) -> CommandSettings {
        for (group, line) in document.groups { try check(group: group, "\(document.path):\(line)") }
        var settings = CommandSettings()
        for group in [Self.groupForAll, name] {
            for entry in document.entries where entry.group == group {
                let owners = commandsWithSettings.filter { $0.name == name }
                guard let option = owners.lazy.compactMap({ $0.option(entry.key) }).first else { continue }
                let place = "\(document.path):\(entry.line): \(entry.key)"
                if let values = try option.values(of: entry, place) {
                    settings.set(entry.key, CommandSettings.Setting(values: values, place: place))
                } else {
                    settings.remove(entry.key)
                }
            }
        }
        for entry in document.entries { try check(entry, document) }
        return settings
    }

    /// Whether a settings file can be for the command `name`.
    public func takesSettings(_ name: String) -> Bool { commandsWithSettings.contains { $0.name == name } }

    /// The commands that a settings file can be for: those that take `--config`.
    var commandsWithSettings: [Command] {
        commands.filter { $0.options.contains { $0.long == Option.config.long } }
    }

    private func check(group: String, _ place: String) throws(UsageError) {
        let known = [Self.groupForAll] + commandsWithSettings.map(\.name)
        if known.contains(group) { return }
        let near = nearest(to: group, among: known).map { "did you mean [\($0)]? " } ?? ""
        throw UsageError("\(place): unknown group [\(printable(group))]; \(near)the groups are \(list(known))")
    }

    private func check(_ entry: SettingsDocument.Entry, _ document: SettingsDocument) throws(UsageError) {
        let place = "\(document.path):\(entry.line)"
        let owners = commandsWithSettings.filter { entry.group == Self.groupForAll || $0.name == entry.group }
        guard let option = owners.lazy.compactMap({ $0.option(entry.key) }).first else {
            let names = owners.flatMap { $0.settable.map(\.long) }
            let near = nearest(to: entry.key, among: names).map { "did you mean \($0)? " } ?? ""
            throw UsageError(
                "\(place): unknown setting '\(printable(entry.key))' in [\(entry.group)]; \(near)"
                    + "'\(program) config' shows them all")
        }
        _ = try option.values(of: entry, "\(place): \(entry.key)")
    }

    private func list(_ words: [String]) -> String { words.joined(separator: ", ") }
}

extension Command {
    /// What can stand in a settings file: not what names one, and not what only shows something and ends.
    var settable: [Option] {
        options.filter { ![Option.config.long, Option.noConfig.long, "help", "version", "list"].contains($0.long) }
    }

    /// Switches that a settings file can have on, and a command line then off again: `--lan=false`.
    var takenBack: Set<String> {
        guard options.contains(where: { $0.long == Option.config.long }) else { return [] }
        return Set(
            settable.compactMap { option in
                if case .none = option.value { option.long } else { nil }
            })
    }

    fileprivate func option(_ long: String) -> Option? { settable.first { $0.long == long } }

    /// The command with the options that name a settings file.
    public var withSettings: Command {
        var command = self
        command.options += [.config, .noConfig]
        return command
    }
}

extension Option {
    /// `--config FILE`
    public static let config = Option(
        long: "config", value: .required("FILE"),
        help: "read options from this settings file, instead of $XDG_CONFIG_HOME/screenrelay/config or "
            + "~/.config/screenrelay/config; what the command line says wins, also "
            + "--SWITCH=false for a switch. 'screenrelay config' shows what can stand in it")

    /// `--no-config`
    public static let noConfig = Option(long: "no-config", help: "read no settings file")

    /// The values that an entry gives the option; nil for a switch that is off.
    fileprivate func values(of entry: SettingsDocument.Entry, _ place: String) throws(UsageError) -> [String]? {
        let problem: String
        switch value {
        case .none:
            switch entry.text {
            case "true"?: return [""]
            case "false"?: return nil
            default: problem = "is a switch; write true or false"
            }
        case .optional where entry.text == "true": return [""]
        case .required, .optional:
            if repeats {
                guard let list = entry.list, !list.isEmpty, !list.contains("") else {
                    problem = "needs values, one behind the other with ';' between"
                    break
                }
                return list
            }
            guard let text = entry.text, !text.isEmpty else {
                problem = "needs a value; text is UTF-8, and a backslash in it is written twice"
                break
            }
            return [text]
        }
        throw UsageError("\(place) \(problem)")
    }
}
