/// A program's exit codes, as in sysexits.h.
public enum ExitCode: Int32, CaseIterable, Sendable {
    case success = 0
    /// The user has cancelled a choice.
    case cancelled = 1
    /// The command line is wrong (EX_USAGE).
    case usage = 64
    /// The input is damaged or of an unknown kind (EX_DATAERR).
    case badData = 65
    /// The shared window isn't there or was closed, or an input file doesn't exist (EX_NOINPUT).
    case windowGone = 66
    /// Something that is needed isn't available: no host, no display, or a port in use (EX_UNAVAILABLE).
    case unavailable = 69
    /// The program itself has a fault (EX_SOFTWARE).
    case software = 70
    /// The system refused something that it usually grants (EX_OSERR).
    case system = 71
    /// A file can't be created (EX_CANTCREAT).
    case cannotWrite = 73
    /// Reading or writing a file failed, for example because the disk is full (EX_IOERR).
    case inputOutput = 74
    /// The user has declined in the desktop's dialog, or has stopped sharing in the desktop (EX_TEMPFAIL).
    case declined = 75
    /// Access is denied (EX_NOPERM).
    case permission = 77

    /// The description in `--help`, one line.
    public var meaning: String {
        switch self {
        case .success: "success"
        case .cancelled: "the choice of --pick was cancelled"
        case .usage: "the command line or the settings file is wrong"
        case .badData: "the input is damaged or of an unknown kind"
        case .windowGone: "the shared window was closed, or a window or an input file doesn't exist"
        case .unavailable: "a host, a display, a port or another resource is not available"
        case .software: "an internal error"
        case .system: "the operating system refused a request"
        case .cannotWrite: "a file can't be created"
        case .inputOutput: "reading or writing a file failed, for example because the disk is full"
        case .declined: "the user declined or cancelled the desktop's dialog, or stopped sharing"
        case .permission: "permission denied"
        }
    }
}
