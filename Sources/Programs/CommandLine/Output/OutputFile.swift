// Structures of the C library count as one of these two modules', whichever the compiler loads first.
import CLinux
import Glibc

/// Writes a file and replaces an existing one. If that fails, returns false with the reason in `errno`.
public func writeFile(_ bytes: [UInt8], to path: String) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { return false }
    guard writeAll(bytes, to: descriptor) else {
        let reason = errno
        close(descriptor)
        errno = reason
        return false
    }
    return close(descriptor) == 0
}

extension UsageError {
    /// The error for a file that can't be created because its folder is missing, or nil if the folder exists or its
    /// state is unknown.
    ///
    /// `option` is the option that named the file, such as "--output s.png".
    public static func missingFolder(of file: String, option: String) -> UsageError? {
        guard let slash = file.lastIndex(of: "/"), slash != file.startIndex else { return nil }
        return missing(folder: String(file[..<slash]), option: option)
    }

    /// The error for a folder that is needed but missing, or nil if it exists or its state is unknown.
    public static func missing(folder: String, option: String) -> UsageError? {
        var status = stat()
        guard stat(folder, &status) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { return nil }
            return UsageError("\(option): folder '\(folder)' does not exist; make it first", exitCode: .cannotWrite)
        }
        guard status.st_mode & S_IFMT != S_IFDIR else { return nil }
        return UsageError("\(option): '\(folder)' is not a folder", exitCode: .cannotWrite)
    }
}

extension ExitCode {
    /// The exit code of a program that could not create or write a file. `code` is the errno.
    public init(writing code: Int32) {
        switch code {
        case EACCES, EPERM, EROFS: self = .permission
        case ENOENT, ENOTDIR, EEXIST, EISDIR, ENAMETOOLONG, ELOOP: self = .cannotWrite
        default: self = .inputOutput
        }
    }
}
