/// The user's command line, checked against the command's table. Values are still text.
public struct ParsedOptions: Sendable {
    private let command: Command
    /// The values by their options' long names. A switch that was turned off again has no value.
    private var given: [String: [String]]
    /// The long names of the options with values on the command line, in order.
    private let order: [String]
    /// By long name: the file, line and key of an option from a settings file, for error messages.
    private var places: [String: String] = [:]
    /// The groups with names of the settings file, such as `[push NAME]`.
    public private(set) var groups: [SettingsGroup] = []
    /// The arguments after the options, in order.
    public let operands: [String]

    init(command: Command, given: [String: [String]], order: [String], operands: [String]) {
        self.command = command
        self.given = given
        self.order = order
        self.operands = operands
    }

    /// Whether `--help` was given. The program then prints the help text, and exits.
    public var wantsHelp: Bool { has("help") }
    /// Whether `--version` was given.
    public var wantsVersion: Bool { has("version") }

    /// Whether the user gave the option, with or without a value.
    public func has(_ long: String) -> Bool { given[long]?.isEmpty == false }

    /// The position of an option from a settings file, such as "/home/ann/.config/screenrelay/config:7: lan". Nil for
    /// other options.
    public func place(of long: String) -> String? { places[long] }

    /// The option's text: the last one given, else its default, else nil.
    public func value(_ long: String) -> String? {
        given[long]?.last ?? command.options.first { $0.long == long }?.default
    }

    /// Every text that was given for the option, in order, without the default.
    public func values(_ long: String) -> [String] { given[long] ?? [] }

    /// For each value of the option `long`, the last value of the option `detail` that stands between it and the next
    /// one, or nil.
    ///
    /// - Throws: ``UsageError`` if a `detail` precedes all values, or if one of the two options comes from a settings
    ///   file.
    public func values(
        _ long: String, withDetail detail: String
    ) throws(UsageError) -> [(value: String, detail: String?)] {
        var result: [(value: String, detail: String?)] = values(long).map { ($0, nil) }
        var details = values(detail)[...]
        guard !details.isEmpty else { return result }
        guard places[long] == nil, places[detail] == nil else {
            throw UsageError("\(label(detail)): a settings file can't say which --\(long) it is for")
        }
        var index = -1
        for name in order {
            if name == long { index += 1 }
            guard name == detail, let value = details.popFirst() else { continue }
            guard index >= 0 else { throw UsageError("--\(detail): must follow the --\(long) that it is for") }
            result[index].detail = value
        }
        return result
    }

    /// The option's value as `format` reads it, or nil if it was not given and has no default. Throws ``UsageError``
    /// that names the option and its value if `format` rejects it.
    public func value<Value>(_ long: String, as format: ValueFormat<Value>) throws(UsageError) -> Value? {
        guard let text = value(long) else { return nil }
        return try format.read(text, option: label(long))
    }

    /// The value of an option that must be given or has a default. Throws ``UsageError`` if it is missing, or if
    /// `format` rejects it.
    public func required<Value>(_ long: String, as format: ValueFormat<Value>) throws(UsageError) -> Value {
        guard let found = try value(long, as: format) else {
            let option = command.options.first { $0.long == long }
            throw UsageError("--\(long) is required: \(option?.usage ?? "--\(long)")")
        }
        return found
    }

    /// Every value that was given for an option that may be repeated. Throws ``UsageError`` for the first that `format`
    /// rejects.
    public func values<Value>(_ long: String, as format: ValueFormat<Value>) throws(UsageError) -> [Value] {
        var result: [Value] = []
        for text in values(long) { result.append(try format.read(text, option: label(long))) }
        return result
    }

    /// The option's name in error messages: `--fps`, or its position in a settings file.
    private func label(_ long: String) -> String { places[long] ?? "--\(long)" }
}

extension ParsedOptions {
    /// These options, completed by a settings file. The command line has precedence: an option on it overrides that
    /// option in the file, and the file's options that exclude it.
    public func completed(by settings: CommandSettings) -> ParsedOptions {
        var result = self
        for (long, setting) in settings.options {
            let others = command.alternatives.filter { $0.contains(long) }.joined()
            guard given[long] == nil, !others.contains(where: { has($0) }) else { continue }
            result.given[long] = setting.values
            result.places[long] = setting.place
        }
        result.groups = settings.groups
        return result
    }

    /// The options of the command line, without those of a settings file.
    public var withoutSettings: ParsedOptions {
        var result = self
        for long in places.keys { result.given[long] = nil }
        (result.places, result.groups) = ([:], [])
        return result
    }

    /// The options and operands as the words of a command line, without the options named in `leavingOut`.
    public func arguments(leavingOut: [String] = []) -> [String] {
        var words: [String] = []
        for option in command.options where !leavingOut.contains(option.long) {
            for value in given[option.long] ?? [] {
                // If the value is optional, an empty one means that the option was given without a value.
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
