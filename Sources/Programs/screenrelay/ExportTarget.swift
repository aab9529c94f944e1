import Glibc

/// Where an export goes: files are written beside their places and renamed at the end, so that nothing half written is
/// ever taken for whole.
struct ExportTarget {
    let path: String
    let mayOverwrite: Bool
    /// What nobody can guess, and lie in wait with.
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

    /// The name under which part `index` is written first; of the same kind, for libraries that go by it.
    func temporaryName(_ index: Int) -> String { "\(name(index)).\(String(mark, radix: 36)).part" }

    /// Before anything is read: whether the first name is free, and not the input's.
    func check(against input: String) throws(ExportError) {
        var own = stat()
        var other = stat()
        let isThere = stat(path, &own) == 0
        if isThere, stat(input, &other) == 0, own.st_dev == other.st_dev, own.st_ino == other.st_ino {
            throw .isInput(path)
        }
        try checkFree(1)
        // Said before anybody waits for what could not be kept.
        Glibc.close(try create(0))
        discard(0)
    }

    /// Whether the names of so many parts are free.
    func checkFree(_ count: Int) throws(ExportError) {
        guard !mayOverwrite else { return }
        for index in 0..<count where access(name(index), F_OK) == 0 { throw .exists(name(index)) }
    }

    /// Gives part `index`, which is whole, its name.
    func commit(_ index: Int) throws(ExportError) {
        let (from, to) = (temporaryName(index), name(index))
        // Somebody may have made a file of that name meanwhile.
        let code = mayOverwrite ? (rename(from, to) == 0 ? 0 : errno) : renameUnlessThere(from, to)
        if code == 0 { return }
        discard(index)
        throw code == EEXIST && !mayOverwrite ? .exists(to) : failure(index, code)
    }

    /// Removes what was written of part `index`.
    func discard(_ index: Int) { unlink(temporaryName(index)) }

    /// Creates part `index` for our user alone, as recordings are: it shows what they show.
    func create(_ index: Int) throws(ExportError) -> Int32 {
        let descriptor = open(temporaryName(index), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw failure(index, errno) }
        return descriptor
    }

    /// What an errno of opening or renaming means.
    func failure(_ index: Int, _ code: Int32) -> ExportError {
        .cannotCreate(
            name(index), reason: String(cString: strerror(code)), isPermission: [EACCES, EPERM, EROFS].contains(code))
    }
}
