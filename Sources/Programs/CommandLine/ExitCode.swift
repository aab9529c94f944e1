/// How a program ends, as in sysexits.h.
public enum ExitCode: Int32, CaseIterable, Sendable {
    case success = 0
    /// What the user typed is wrong (EX_USAGE).
    case usage = 64
    /// What was read is damaged or of an unknown kind (EX_DATAERR).
    case badData = 65
    /// The window that is shared isn't there, or has been closed; or there is no such file to read (EX_NOINPUT).
    case windowGone = 66
    /// Something that is needed isn't there: a host, a display, a port that is taken (EX_UNAVAILABLE).
    case unavailable = 69
    /// A fault of the program's own (EX_SOFTWARE).
    case software = 70
    /// The system refused something that it usually grants (EX_OSERR).
    case system = 71
    /// A file can't be created (EX_CANTCREAT).
    case cannotWrite = 73
    /// Reading or writing a file failed, as on a full disk (EX_IOERR).
    case inputOutput = 74
    /// Access is denied (EX_NOPERM).
    case permission = 77

    /// One line for `--help`.
    public var meaning: String {
        switch self {
        case .success: "all went well"
        case .usage: "something in the command line is wrong"
        case .badData: "what was read is damaged or of an unknown kind"
        case .windowGone: "the window that is shared, or the file to read, is not there"
        case .unavailable: "something that is needed is not there (host, display, port)"
        case .software: "a fault in the program itself"
        case .system: "the operating system refused something"
        case .cannotWrite: "a file can't be created"
        case .inputOutput: "reading or writing a file failed, as on a full disk"
        case .permission: "permission denied"
        }
    }
}
