/// The headings under which `--help` and manual pages list the options of a command with many of them, in their order.
public enum OptionHeading: String, CaseIterable, Sendable {
    case checks = "Checks"
    case captureLink = "Capture link"
    case source = "What to share"
    case quality = "Quality"
    case sound = "Sound"
    case access = "Access"
    case network = "Network"
    case recording = "Recording"
    case pushing = "Pushing and joining"
    case desktop = "Desktop"
    case captureProcess = "Capture process"
    case output = "Output"
}

extension Option {
    /// This option under a heading.
    public func under(_ heading: OptionHeading) -> Option {
        var option = self
        option.heading = heading
        return option
    }
}

extension [Option] {
    /// These options under a heading, the most used first.
    public func under(_ heading: OptionHeading) -> [Option] { map { $0.under(heading) } }
}

extension Command {
    /// The options that users are told of, with the headings over them. Options without a heading come last. A command
    /// whose options have the same heading or none needs no headings.
    var optionGroups: [(heading: String, options: [Option])] {
        let shown = shownOptions
        let headings = OptionHeading.allCases.filter { heading in shown.contains { $0.heading == heading } }
        guard headings.count > 1 else { return [(heading: "Options", options: shown)] }
        var groups = headings.map { heading in
            (heading: heading.rawValue, options: shown.filter { $0.heading == heading })
        }
        groups.append((heading: "Other options", options: shown.filter { $0.heading == nil }))
        return groups
    }
}
