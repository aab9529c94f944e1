/// The options that a settings file sets for one command, by their long names.
public struct CommandSettings: Sendable {
    /// The values of one option, and where they are in the file.
    public struct Setting: Sendable {
        /// The values as on a command line. A switch has one empty value.
        public var values: [String]
        /// The position for error messages, such as "/home/ann/.config/screenrelay/config:7: fps".
        public var place: String
    }

    /// The settings by their options' long names.
    public private(set) var options: [String: Setting] = [:]
    /// The groups with names, such as `[push NAME]`, that the command uses, in the file's order.
    public internal(set) var groups: [SettingsGroup] = []

    /// No settings.
    public init() {}

    /// Sets an option, replacing an earlier value.
    mutating func set(_ long: String, _ setting: Setting) { options[long] = setting }
    /// Removes an option's setting, as if it were not in the file.
    mutating func remove(_ long: String) { options[long] = nil }
}

/// A parsed settings file (a key file as in the Desktop Entry Specification), before its keys are matched with options.
public struct SettingsDocument: Sendable {
    /// A key and its value.
    public struct Entry: Sendable {
        /// The name of the group that the key is in.
        public var group: String
        /// The key as it is written.
        public var key: String
        /// The value as one text, or nil if it can't be read as such.
        public var text: String?
        /// The value as a list whose items end with `;`, or nil if it can't be read as such.
        public var list: [String]?
        /// The entry's line number, counted from 1.
        public var line: Int
    }

    /// The file's path, for error messages.
    public var path: String
    /// Whether only this user and root can read the file.
    public var isPrivate = true
    /// The groups and their line numbers, including groups without keys.
    public var groups: [(name: String, line: Int)]
    /// All entries.
    public var entries: [Entry]
}

extension CommandSet {
    /// The group of a settings file that applies to every command with such an option.
    public static let groupForAll = "all"

    /// The settings in `document` for the command `name`. The command's own group overrides the group for all commands.
    ///
    /// - Throws: an error if any group or key in the file is unknown or any value is invalid, whichever command it is
    ///   for, so that a mistake is found before the day on which that command is used.
    public func settings(in document: SettingsDocument, for name: String) throws(UsageError) -> CommandSettings {
        for (group, line) in document.groups where !isNamed(group) {
            try check(group: group, "\(document.path):\(line)")
        }
        let name = groupName(of: name)
        var settings = CommandSettings()
        for group in [Self.groupForAll, name] {
            for entry in document.entries where entry.group == group {
                let owners = commandsWithSettings.filter { $0.name == name }
                guard let option = owners.lazy.compactMap({ $0.option(entry.key) }).first else { continue }
                let place = "\(document.path):\(entry.line): \(entry.key)"
                if let values = try option.values(of: entry, place) {
                    settings.set(option.long, CommandSettings.Setting(values: values, place: place))
                } else {
                    settings.remove(option.long)
                }
            }
        }
        for entry in document.entries where !isNamed(entry.group) { try check(entry, document) }
        let kinds = namedGroups.filter { $0.commands.contains(name) }.map(\.kind)
        settings.groups = try groupsWithNames(in: document).filter { kinds.contains($0.kind) }
        return settings
    }

    /// Whether the command `name` reads settings files.
    public func takesSettings(_ name: String) -> Bool {
        commandsWithSettings.contains { $0.name == groupName(of: name) }
    }

    /// The group of a settings file that is for the command `name`.
    func groupName(of name: String) -> String { commands.first { $0.name == name }?.settingsOf ?? name }

    /// The commands that have a group in settings files: the commands with `--config`.
    var commandsWithSettings: [Command] {
        commands.filter { $0.settingsOf == nil && $0.options.contains { $0.long == Option.config.long } }
    }

    private func check(group: String, _ place: String) throws(UsageError) {
        let known = [Self.groupForAll] + commandsWithSettings.map(\.name)
        if known.contains(group) { return }
        let near = nearest(to: group, among: known).map { "did you mean [\($0)]? " } ?? ""
        let all = known + namedGroups.map { "\($0.kind) NAME" }
        throw UsageError(
            "\(place): unknown group [\(printable(withoutURL(group)))]; \(near)the groups are \(list(all))")
    }

    private func check(_ entry: SettingsDocument.Entry, _ document: SettingsDocument) throws(UsageError) {
        let place = "\(document.path):\(entry.line)"
        let owners = commandsWithSettings.filter { entry.group == Self.groupForAll || $0.name == entry.group }
        guard let option = owners.lazy.compactMap({ $0.option(entry.key) }).first else {
            let names = owners.flatMap { $0.settable.map(\.long) }
            let near = nearest(to: entry.key, among: names).map { "did you mean \($0)? " } ?? ""
            throw UsageError(
                "\(place): unknown setting '\(printable(withoutURL(entry.key)))' in [\(entry.group)]; \(near)"
                    + "'\(program) config' shows them all")
        }
        _ = try option.values(of: entry, "\(place): \(entry.key)")
        try document.checkPrivacy(of: option, "\(place): \(entry.key)")
    }

    private func list(_ words: [String]) -> String { words.joined(separator: ", ") }
}

extension Command {
    /// The options that may be in a settings file: all except options that name a settings file, or only print a text
    /// and exit.
    var settable: [Option] {
        options.filter { ![Option.config.long, Option.noConfig.long, "help", "version", "list"].contains($0.long) }
    }

    /// The switches that a settings file can turn on and a command line can turn off again, as in `--lan=false`.
    var booleanSwitches: Set<String> {
        guard options.contains(where: { $0.long == Option.config.long }) else { return [] }
        return Set(
            settable.compactMap { option in
                if case .none = option.value { option.long } else { nil }
            })
    }

    fileprivate func option(_ name: String) -> Option? {
        settable.first { $0.long == name || $0.formerNames.contains(name) }
    }

    /// This command with the options that name a settings file.
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
        help: "read options from this settings file instead of $XDG_CONFIG_HOME/screenrelay/config or "
            + "~/.config/screenrelay/config; see 'screenrelay help config'")

    /// `--no-config`
    public static let noConfig = Option(long: "no-config", help: "read no settings file")

    /// The values that an entry gives this option, or nil for a switch that is off.
    func values(of entry: SettingsDocument.Entry, _ place: String) throws(UsageError) -> [String]? {
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
                    problem = "needs one or more values, separated by ';'"
                    break
                }
                return list
            }
            guard let text = entry.text, !text.isEmpty else {
                problem = "needs a value; write text in UTF-8, and each backslash twice"
                break
            }
            return [text]
        }
        throw UsageError("\(place) \(problem)")
    }
}
