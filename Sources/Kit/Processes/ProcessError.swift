import Glibc

/// Why a child process could not be started or written to.
public enum ProcessError: Error, Equatable, CustomStringConvertible {
    /// No executable file has this name.
    case notFound(program: String)
    /// The system refused to start this program; `errno` says why.
    case notStarted(program: String, errno: Int32)
    /// A pipe, descriptor or thread for the child could not be created; `errno` says why.
    case noResources(what: String, errno: Int32)
    /// A descriptor can't be passed on under this number, because it is below 3.
    case reservedDescriptor(Int32)
    /// An argument, a variable or a path contains a NUL character.
    case nulCharacter(String)
    /// The child no longer reads its input, or its input is not our pipe; `errno` says why.
    case inputClosed(errno: Int32)

    public var description: String {
        switch self {
        case .notFound(let program):
            return program.contains("/")
                ? "\(program) is not an executable file" : "\(program) is not in PATH; is its package installed?"
        case .notStarted(let program, let code): return "\(program) can't be started: \(Self.text(of: code))"
        case .noResources(let what, let code): return "no \(what) for a child process: \(Self.text(of: code))"
        case .reservedDescriptor(let number):
            return "descriptor \(number) can't be passed to a child process: 0 to 2 are the standard streams"
        case .nulCharacter(let text): return "\"\(text.replacingNULs)\" contains a NUL character"
        case .inputClosed(let code): return "the child process does not read its input: \(Self.text(of: code))"
        }
    }

    private static func text(of code: Int32) -> String {
        String(cString: strerror(code))
    }
}

extension String {
    fileprivate var replacingNULs: String {
        String(map { $0 == "\0" ? "\u{2400}" : $0 })
    }
}
