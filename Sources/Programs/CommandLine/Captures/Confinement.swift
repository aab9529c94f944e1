import CLinux
import Glibc

/// Restricts a process that captures before it opens anything, as another program asked it to (`--user`,
/// `--supervised`).
public enum Confinement {
    /// The options for a command's table.
    public static let options = [
        Option(
            long: "supervised",
            help:
                "exit when the parent process ends, and never gain privileges; 'screenrelay share' sets this"),
        Option(
            long: "user", value: .required("NAME"),
            help: "run as this user, and only in its own group; only root can do this"),
        Option(
            long: "unconfined",
            help:
                "allow starting programs and opening files, for crash reports, or for a name service or PulseAudio "
                + "with files in unusual places"),
    ].under(.captureProcess)

    /// Applies the options.
    ///
    /// - Throws: ``UsageError`` if there is no such user, if this process may not become it, or if the system refuses.
    public static func enter(_ options: ParsedOptions) throws(UsageError) {
        if let name = try options.value("user", as: .text) { try become(name) }
        guard options.has("supervised") else { return }
        if shim_refuse_privileges() != 0 {
            throw UsageError("--supervised: prctl failed: \(String(cString: strerror(errno)))", exitCode: .system)
        }
        // SIGKILL, because a killed capture leaves nothing behind, and one that hangs in a library would ignore any
        // other signal. This comes last, because a change of the user resets it.
        _ = shim_set_parent_death_signal(SIGKILL)
    }

    private static func become(_ name: String) throws(UsageError) {
        guard geteuid() == 0 else {
            throw UsageError("--user \(name): only root can become another user; leave it out", exitCode: .permission)
        }
        guard let entry = getpwnam(name) else {
            throw UsageError("--user \(name): there is no such user")
        }
        guard shim_become_user(entry.pointee.pw_uid, entry.pointee.pw_gid) == 0 else {
            throw UsageError("--user \(name): \(String(cString: strerror(errno)))", exitCode: .permission)
        }
    }
}
