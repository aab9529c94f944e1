import CommandLine
import Glibc

/// Finds the settings file for a command line.
enum SettingsLookup {
    /// Adds the options of the settings file: the file that `--config` names, else the user's own if it exists.
    static func complete(_ options: ParsedOptions, of command: String) throws(UsageError) -> ParsedOptions {
        guard let document = try document(for: options, of: command) else { return options }
        return options.completed(by: try Program.commands.settings(in: document, for: command))
    }

    /// Adds these options for `doctor`, which reports a wrong mode or owner of the file as for other files. Returns
    /// that error of `complete`, together with the options of the file if it can be read.
    static func examine(
        _ options: ParsedOptions, of command: String
    ) throws(UsageError) -> (options: ParsedOptions, problem: UsageError?) {
        var found: SettingsDocument?
        do throws(UsageError) {
            found = try document(for: options, of: command)
            guard let found else { return (options, nil) }
            return (options.completed(by: try Program.commands.settings(in: found, for: command)), nil)
        } catch {
            guard error.exitCode == .permission else { throw error }
            guard var open = found else { return (options, error) }
            open.isPrivate = true
            return (options.completed(by: try Program.commands.settings(in: open, for: command)), error)
        }
    }

    /// The settings file for a command line; nil if there is none.
    private static func document(
        for options: ParsedOptions, of command: String
    ) throws(UsageError) -> SettingsDocument? {
        let named = try options.value(Option.config.long, as: .text)
        if options.has(Option.noConfig.long) {
            if let named { throw UsageError("--config \(named) and --no-config can't go together; leave one out") }
            return nil
        }
        guard Program.commands.takesSettings(command), let path = named ?? SettingsFile.standardPath() else {
            return nil
        }
        return try read(path, isNamed: named != nil)
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
