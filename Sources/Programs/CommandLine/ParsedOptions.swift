/// What the user wrote, checked against the command's table; values are still text.
public struct ParsedOptions: Sendable {
    private let command: Command
    /// By long name; no value at all for a switch that was taken back.
    private var given: [String: [String]]
    /// What errors call an option that comes from a settings file, by its long name: the file, the line and the key.
    private var places: [String: String] = [:]
    /// What stands behind the options, in order.
    public let operands: [String]

    init(command: Command, given: [String: [String]], operands: [String]) {
        self.command = command
        self.given = given
        self.operands = operands
    }

    /// Whether `--help` was given; the program then prints `HelpText` and does nothing else.
    public var wantsHelp: Bool { has("help") }
    /// Whether `--version` was given.
    public var wantsVersion: Bool { has("version") }

    /// Whether the user gave the option, with or without a value.
    public func has(_ long: String) -> Bool { given[long]?.isEmpty == false }

    /// Where a settings file has the option, as "/home/ann/.config/screenrelay/config:7: lan"; nil where it isn't from one.
    public func place(of long: String) -> String? { places[long] }

    /// The option's text: the last that was given, else its default, else nil.
    public func value(_ long: String) -> String? {
        given[long]?.last ?? command.options.first { $0.long == long }?.default
    }

    /// Every text that was given for the option, in order; a default doesn't count.
    public func values(_ long: String) -> [String] { given[long] ?? [] }

    /// The option's value as `format` reads it; nil where it was not given and has no default.
    public func value<Value>(_ long: String, as format: ValueFormat<Value>) throws(UsageError) -> Value? {
        guard let text = value(long) else { return nil }
        return try format.read(text, option: label(long))
    }

    /// The value of an option that the user has to give (or that has a default).
    public func required<Value>(_ long: String, as format: ValueFormat<Value>) throws(UsageError) -> Value {
        guard let found = try value(long, as: format) else {
            let option = command.options.first { $0.long == long }
            throw UsageError("--\(long) is needed: \(option?.usage ?? "--\(long)")")
        }
        return found
    }

    /// Every value that was given for an option that may stand more than once.
    public func values<Value>(_ long: String, as format: ValueFormat<Value>) throws(UsageError) -> [Value] {
        var result: [Value] = []
        for text in values(long) { result.append(try format.read(text, option: label(long))) }
        return result
    }

    /// What an error calls the option: `--fps`, or the place in a settings file that it was read from.
    private func label(_ long: String) -> String { places[long] ?? "--\(long)" }
}

extension ParsedOptions {
    /// These options with those of a settings file beside them. What the user typed wins: an option that was given, also as
    /// one of several alternatives, is as it was.
    public func completed(by settings: CommandSettings) -> ParsedOptions {
        var result = self
        for (long, setting) in settings.options {
            let others = command.alternatives.filter { $0.contains(long) }.joined()
            guard given[long] == nil, !others.contains(where: { has($0) }) else { continue }
            result.given[long] = setting.values
            result.places[long] = setting.place
        }
        return result
    }

    /// The same in words of a command line, without the options named in `leavingOut`.
    public func arguments(leavingOut: [String] = []) -> [String] {
        var words: [String] = []
        for option in command.options where !leavingOut.contains(option.long) {
            for value in given[option.long] ?? [] {
                // An empty value of an option that may go without is none.
                let isBare =
                    switch option.value {
                    case .none: true
                    case .optional: value.isEmpty
                    case .required: false
                    }
                words.append(isBare ? "--\(option.long)" : "--\(option.long)=\(value)")
            }
        }
        return words + (operands.isEmpty ? [] : ["--"] + operands)
    }
}
