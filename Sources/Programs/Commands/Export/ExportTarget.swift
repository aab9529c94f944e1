import Glibc

/// The destination of an export. Files are written under temporary names and renamed at the end, so that a half-written
/// file is never mistaken for a complete one.
struct ExportTarget {
    let path: String
    let mayOverwrite: Bool
    /// Random, so that no one can guess the temporary name and put a file there first.
    private let mark = UInt64.random(in: 0 ... .max)

    init(path: String, mayOverwrite: Bool) {
        self.path = path
        self.mayOverwrite = mayOverwrite
    }

    /// The name of part `index`: `screen.mp4`, `screen-2.mp4`.
    func name(_ index: Int) -> String {
        guard index > 0 else { return path }
        let dot = path.lastIndex(of: ".") ?? path.endIndex
        return "\(path[..<dot])-\(index + 1)\(path[dot...])"
    }

    /// The temporary name of part `index`.
    func temporaryName(_ index: Int) -> String { "\(name(index)).\(String(mark, radix: 36)).part" }

    /// Checks, before anything is read, that the first name is free and not the input's, and that a file can be
    /// created.
    func check(against input: String) throws(ExportError) {
        var own = stat()
        var other = stat()
        let isThere = stat(path, &own) == 0
        if isThere, stat(input, &other) == 0, own.st_dev == other.st_dev, own.st_ino == other.st_ino {
            throw .isInput(path)
        }
        try checkFree(1)
        // Create a file now, so that an impossible export fails before a long wait.
        Glibc.close(try create(0))
        discard(0)
    }

    /// Throws if one of the names of `count` parts is taken.
    func checkFree(_ count: Int) throws(ExportError) {
        guard !mayOverwrite else { return }
        for index in 0..<count where access(name(index), F_OK) == 0 { throw .exists(name(index)) }
    }

    /// Renames part `index`, which is complete, to its final name.
    func commit(_ index: Int) throws(ExportError) {
        let (from, to) = (temporaryName(index), name(index))
        // Another program may have created a file with that name meanwhile.
        let code = mayOverwrite ? (rename(from, to) == 0 ? 0 : errno) : renameUnlessThere(from, to)
        if code == 0 { return }
        discard(index)
        throw code == EEXIST && !mayOverwrite ? .exists(to) : failure(index, code)
    }

    /// Removes the temporary file of part `index`.
    func discard(_ index: Int) { unlink(temporaryName(index)) }

    /// Creates part `index`, readable only by this user, like recordings, because it shows a recording's content.
    func create(_ index: Int) throws(ExportError) -> Int32 {
        let descriptor = open(temporaryName(index), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw failure(index, errno) }
        return descriptor
    }

    /// The error for an errno of open or rename.
    func failure(_ index: Int, _ code: Int32) -> ExportError {
        .cannotCreate(
            name(index), reason: String(cString: strerror(code)), isPermission: [EACCES, EPERM, EROFS].contains(code))
    }
}
