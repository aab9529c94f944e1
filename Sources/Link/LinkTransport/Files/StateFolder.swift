import Glibc

/// The folder in which programs keep small secrets of this user, and how they are written.
public enum StateFolder {
    /// The folder: `$XDG_STATE_HOME/screenrelay`, or else `~/.local/state/screenrelay`. Nil if there is no home.
    ///
    /// - Parameter environment: returns the value of a variable.
    public static func path(_ environment: (String) -> String?) -> String? {
        if let named = environment("XDG_STATE_HOME"), named.hasPrefix("/") { return named + "/screenrelay" }
        guard let home = environment("HOME"), home.hasPrefix("/") else { return nil }
        return home + "/.local/state/screenrelay"
    }

    /// Creates the missing folders of `file`, with access for this user only. If this fails, `replace` reports why.
    public static func makeFolders(of file: String) {
        var index = file.startIndex
        while index < file.endIndex, let slash = file[file.index(after: index)...].firstIndex(of: "/") {
            mkdir(String(file[..<slash]), 0o700)
            index = slash
        }
    }

    /// Replaces `file` by one with this text that only this user can read. Returns 0, or an errno if the file is as it
    /// was.
    ///
    /// It is written under another name first, so that a reader always finds a whole secret, even after a crash.
    public static func replace(_ file: String, with text: String) -> Int32 {
        let early = "\(file).\(getpid())"
        unlink(early)
        let descriptor = open(early, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return errno }
        let written = text.withCString { Glibc.write(descriptor, $0, strlen($0)) }
        var code = written == text.utf8.count ? 0 : written < 0 ? errno : ENOSPC
        close(descriptor)
        if code == 0, rename(early, file) != 0 { code = errno }
        if code != 0 { unlink(early) }
        return code
    }
}
