import Glibc

/// Finds programs as a shell does.
public enum ProgramLookup {
    /// The path of `program`: unchanged if it contains a slash and is executable, otherwise the first match in PATH.
    public static func path(of program: String) -> String? {
        if program.contains("/") { return isExecutable(program) ? program : nil }
        guard !program.isEmpty else { return nil }
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        for folder in path.split(separator: ":", omittingEmptySubsequences: false) {
            let candidate = (folder.isEmpty ? "." : folder) + "/" + program
            if isExecutable(String(candidate)) { return String(candidate) }
        }
        return nil
    }

    private static func isExecutable(_ path: String) -> Bool {
        var details = stat()
        return stat(path, &details) == 0 && details.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }
}
