import CommandLine
import Glibc
import ScreenRelayKit
import Signalling

extension TokenFile {
    /// The file that keeps a room's token between runs; nil if there is no place for it.
    init?(room: String, of configuration: HostConfiguration) {
        self.init(room: room, listen: configuration.listen.map { "\($0)" })
    }

    /// Returns the token in this file, which `option` named. If there is no file, it is created, and a line says so:
    /// its name may be mistyped.
    func token(namedBy option: String, isNew: Bool = false) throws(TokenFileError) -> String {
        let isMissing = access(path, F_OK) != 0
        let token = try self.token(isNew: isNew)
        if isMissing {
            StandardStreams.printError(
                "\(option) \(path): there was no such file; it was created, with a new token", program: Program.name)
        }
        return token
    }
}

extension TokenFileError {
    /// The error about a file that `option` named and that can't be used.
    func problem(of option: String, _ file: String) -> UsageError {
        switch self {
        case .notWritable(_, ENOENT), .notReadable(_, ENOTDIR):
            if let problem = UsageError.missingFolder(of: file, option: "\(option) \(file)") { return problem }
        default: break
        }
        return UsageError(option, file: file, description, exitCode: exitCode)
    }

    /// The exit code of a program that can't get its token from the file.
    var exitCode: ExitCode {
        switch self {
        case .notPrivate, .notReadable(_, EACCES): .permission
        case .notAFile: .usage
        case .notAToken: .badData
        case .notReadable(_, ENOTDIR): .cannotWrite
        case .notReadable: .system
        case .notWritable(_, let code): ExitCode(writing: code)
        }
    }
}
