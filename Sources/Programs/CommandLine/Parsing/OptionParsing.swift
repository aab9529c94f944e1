@preconcurrency import CLinux
@preconcurrency import Glibc
import Synchronization

extension Command {
    /// The options that every command takes in addition to its own.
    static let standardOptions = [
        Option(long: "help", short: "h", help: "show this help and exit"),
        Option(long: "version", help: "show the version and exit"),
    ]

    var allOptions: [Option] {
        options + Self.standardOptions.filter { own in !options.contains { $0.long == own.long } }
    }

    /// The options that users are told of.
    var shownOptions: [Option] { allOptions.filter { !$0.isHidden } }

    /// Parses the arguments after the command's name with getopt_long(3). Options may follow operands; `--` ends them.
    ///
    /// `program` is what the user typed before them (`screenrelay share`), for error messages. If `--help` or
    /// `--version` is given, operands are not counted.
    ///
    /// - Throws: ``UsageError`` for an unknown or ambiguous option, a missing value, or a wrong number of operands.
    public func parse(_ arguments: [String], program: String) throws(UsageError) -> ParsedOptions {
        let all = allOptions
        let switches = booleanSwitches
        let scan = scanLock.withLock { _ in scanOptions(arguments, all.flatMap(\.spelled), booleanSwitches: switches) }
        if let fault = scan.fault { throw UsageError(message(for: fault, program: program)) }
        let parsed = ParsedOptions(command: self, given: scan.given, order: scan.order, operands: scan.operands)
        if !parsed.wantsHelp && !parsed.wantsVersion { try checkCount(of: scan.operands, program: program) }
        return parsed
    }

    private func checkCount(of found: [String], program: String) throws(UsageError) {
        let hint = "see '\(program) --help'"
        if found.count > operands.count.upperBound {
            let argument = printable(withoutURL(found[operands.count.upperBound]))
            throw UsageError("unexpected argument '\(argument)'; \(hint)")
        }
        if found.count < operands.count.lowerBound { throw UsageError("\(operands.name) is missing; \(hint)") }
    }

    private func message(for fault: OptionFault, program: String) -> String {
        let list = "'\(program) --help' lists them"
        switch fault {
        case .unknownShort(let letter): return "unknown option -\(printable(letter)); \(list)"
        case .missingValue(let option): return "\(option.spelling) needs a value: \(option.usage)"
        case .unexpectedValue(let option):
            let words = booleanSwitches.contains(option.long) ? " other than true or false" : ""
            return "\(option.spelling) takes no value\(words)"
        case .unknownLong(let name):
            let matches = allOptions.filter { $0.long.hasPrefix(name) }.map { "--\($0.long)" }
            if matches.count > 1 { return "--\(name) could be \(matches.joined(separator: " or ")); write it out" }
            if let sought = allOptions.first(where: { $0.alsoSoughtAs.contains(name) }) {
                return "unknown option --\(printable(name)); did you mean \(sought.usage)? \(list)"
            }
            guard let near = nearest(to: name, among: allOptions.map(\.long)) else {
                return "unknown option --\(printable(name)); \(list)"
            }
            return "unknown option --\(printable(name)); did you mean --\(near)? \(list)"
        }
    }
}

/// An error that getopt_long(3) found.
private enum OptionFault: Sendable {
    case unknownShort(String)
    case unknownLong(String)
    case missingValue(Option)
    case unexpectedValue(Option)
}

private struct OptionScan: Sendable {
    var given: [String: [String]] = [:]
    /// The long names of the options with values, in the order in which they were given.
    var order: [String] = []
    var operands: [String] = []
    var fault: OptionFault?
}

/// getopt keeps its state in global variables, so only one scan may run at a time.
private let scanLock = Mutex(())

/// An option under one of its long names.
private struct SpelledOption: Sendable {
    let name: String
    let option: Option
}

extension Option {
    /// The option under its name and its former names.
    fileprivate var spelled: [SpelledOption] {
        ([long] + formerNames).map { SpelledOption(name: $0, option: self) }
    }
}

/// getopt's values of long options start here, above the values of all letters.
private let longBase: Int32 = 0x1000

private func scanOptions(_ arguments: [String], _ all: [SpelledOption], booleanSwitches: Set<String>) -> OptionScan {
    // getopt reorders the pointers, so keep the original array for freeing them.
    let words: [UnsafeMutablePointer<CChar>?] = (["program"] + arguments).map { strdup($0) }
    let names: [UnsafeMutablePointer<CChar>?] = all.map { strdup($0.name) }
    defer { for text in words + names { free(text) } }
    var argv = words + [nil]
    var table: [option] = []
    var letters = ":"
    for (index, entry) in all.map(\.option).enumerated() {
        let kind: Int32 =
            switch entry.value {
            case .none: 0
            case .required: 1
            case .optional: 2
            }
        let longKind = booleanSwitches.contains(entry.long) ? 2 : kind
        table.append(option(name: names[index], has_arg: longKind, flag: nil, val: longBase + Int32(index)))
        if let short = entry.short { letters += "\(short)" + String(repeating: ":", count: Int(kind)) }
    }
    table.append(option())
    opterr = 0
    // 0, not 1: it makes glibc forget its position within a cluster of letters from an earlier scan.
    optind = 0
    var scan = OptionScan()
    while true {
        let found = getopt_long(Int32(words.count), &argv, letters, table, nil)
        if found == -1 { break }
        if found == Int32(UInt8(ascii: "?")) || found == Int32(UInt8(ascii: ":")) {
            scan.fault = fault(isMissingValue: found == Int32(UInt8(ascii: ":")), all: all, argv: argv)
            return scan
        }
        guard let entry = entry(for: found, all) else { continue }
        let value = optarg.map { String(cString: $0) }
        guard booleanSwitches.contains(entry.long) else {
            scan.given[entry.long, default: []].append(value ?? "")
            scan.order.append(entry.long)
            continue
        }
        switch value {
        case nil, "true"?: scan.given[entry.long] = [""]
        case "false"?: scan.given[entry.long] = []
        default:
            scan.fault = .unexpectedValue(entry)
            return scan
        }
    }
    for index in Int(optind)..<max(Int(optind), words.count) {
        if let word = argv[index] { scan.operands.append(String(cString: word)) }
    }
    return scan
}

private func entry(for value: Int32, _ all: [SpelledOption]) -> Option? {
    let index = Int(value) - Int(longBase)
    if all.indices.contains(index) { return all[index].option }
    return all.first { $0.option.short?.asciiValue.map(Int32.init) == value }?.option
}

private func fault(isMissingValue: Bool, all: [SpelledOption], argv: [UnsafeMutablePointer<CChar>?]) -> OptionFault {
    if let known = entry(for: optopt, all) { return isMissingValue ? .missingValue(known) : .unexpectedValue(known) }
    let index = Int(optind) - 1
    let word = argv.indices.contains(index) ? argv[index].map { String(cString: $0) } ?? "" : ""
    if optopt == 0 || word.hasPrefix("--") {
        let name = word.drop { $0 == "-" }.prefix { $0 != "=" }
        return .unknownLong(String(name))
    }
    return .unknownShort(String(decoding: [UInt8(truncatingIfNeeded: optopt)], as: UTF8.self))
}

extension Option {
    /// `--bitrate`
    var spelling: String { "--\(long)" }

    /// `--bitrate=RATE`
    var usage: String {
        switch value {
        case .none: spelling
        case .required(let name): "\(spelling)=\(name)"
        case .optional(let name): "\(spelling)[=\(name)]"
        }
    }
}
