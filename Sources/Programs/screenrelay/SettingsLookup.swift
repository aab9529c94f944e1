import CommandLine
import Glibc

/// Finds the settings file for a command line.
enum SettingsLookup {
    /// Adds the options of the settings file: the one that `--config` names, else the user's own if it exists.
    static func complete(_ options: ParsedOptions, of command: String) throws(UsageError) -> ParsedOptions {
        let named = try options.value(Option.config.long, as: .text)
        if options.has(Option.noConfig.long) {
            if let named { throw UsageError("--config \(named) and --no-config can't go together; leave one out") }
            return options
        }
        guard Program.commands.takesSettings(command), let path = named ?? SettingsFile.standardPath() else {
            return options
        }
        guard let document = try read(path, isNamed: named != nil) else { return options }
        return options.completed(by: try Program.commands.settings(in: document, for: command))
    }

    private static func read(_ path: String, isNamed: Bool) throws(UsageError) -> SettingsDocument? {
        let label = isNamed ? "--config " : ""
        do throws(SettingsFileError) {
            if let document = try SettingsFile.read(path) { return document }
        } catch {
            throw UsageError(label + error.description, exitCode: error.exitCode)
        }
        if isNamed { throw UsageError("--config \(path): there is no such file", exitCode: .windowGone) }
        return nil
    }
}

extension SettingsFileError {
    fileprivate var exitCode: ExitCode {
        switch self {
        case .notReadable(_, EACCES): .permission
        case .notReadable(_, EISDIR), .notReadable(_, ENOTDIR): .usage
        case .notReadable: .inputOutput
        case .malformed, .misplaced: .badData
        }
    }
}
