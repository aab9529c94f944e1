extension CommandSet {
    /// A settings file for `screenrelay config` with every option, commented out. If `name` is not nil, only with that
    /// command's options.
    public func settingsTemplate(for name: String? = nil) -> String {
        let name = name.map { groupName(of: $0) }
        var lines = [
            "# Settings of \(program): ~/.config/\(program)/config, or a file that --config names.",
            "# The command line overrides this file. A command ignores settings in [\(Self.groupForAll)] that it has no option for.",
            "", "[\(Self.groupForAll)]",
        ]
        for command in commandsWithSettings where name == nil || command.name == name {
            lines += ["", "[\(command.name)]"]
            for option in command.settable where !option.isHidden { lines += self.lines(of: option) }
        }
        for group in namedGroups where name == nil || group.commands.contains(name ?? "") {
            lines += ["", "#[\(group.kind) NAME]"] + comment(group.help)
            for key in group.keys { lines += self.lines(of: key) }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func lines(of option: Option) -> [String] {
        comment(option.help) + ["#\(option.long)=\(option.settingExample)"]
    }

    private func comment(_ text: String) -> [String] { wrapped(text, indent: 2).map { "#" + $0.dropFirst() } }
}

extension Option {
    fileprivate var settingExample: String {
        let text: String
        switch value {
        case .none: return "true"
        case .required(let name), .optional(let name): text = `default` ?? name
        }
        return repeats ? "\(text);\(text)" : text
    }
}
