import CommandLine
import Glibc
import Signalling

/// `screenrelay snapshot`: saves the last picture of a room as a file.
enum SnapshotCommand {
    static let command = Command(
        name: "snapshot",
        summary: "Saves the last frame of a room as a PNG or JPEG file.",
        options: [
            Option(
                long: "output", short: "o", value: .required("FILE"),
                help: "where to save it: FILE.png, FILE.jpg, or - for a PNG on standard output"),
            Option(
                long: "track", short: "t", value: .required("NAME"),
                help: "the track to save (default: the room's first)"),
        ],
        operands: Operands(name: "LINK", count: 1...1, help: RoomLinkOperand.help),
        examples: [
            Example(
                "screenrelay snapshot 'http://127.0.0.1:8080/#screen,TOKEN' -o screen.png",
                "Saves the current frame."),
            Example(
                "screenrelay link | screenrelay snapshot - -o screen.png",
                "Saves it without the token on a command line, where other users of the machine could read it."),
        ])

    static func run(_ options: ParsedOptions) throws(UsageError) -> Int32 {
        let file = try options.required("output", as: .text)
        let lowercased = file.lowercased()
        let isJPEG = lowercased.hasSuffix(".jpg") || lowercased.hasSuffix(".jpeg")
        guard isJPEG || lowercased.hasSuffix(".png") || file == "-" else {
            throw UsageError("--output \(file): the name must end in .png or .jpg")
        }
        // Check now, so that no one waits for a picture that can't be saved.
        if let problem = UsageError.missingFolder(of: file, option: "--output \(file)") { throw problem }
        let track = try options.value("track", as: .text)
        let link = try RoomLinkOperand.read(options.operands[0])
        let bytes: [UInt8]
        do {
            bytes = try SnapshotClient().fetchSnapshot(
                link: link, track: track, format: isJPEG ? .jpeg : .png)
        } catch {
            let option = track.flatMap { error == .noTrack ? "--track \($0): " : nil } ?? ""
            return Program.fail(option + error.description, error.exitCode)
        }
        guard save(bytes, to: file) else {
            let reason = errno
            return Program.fail("--output \(file): \(String(cString: strerror(reason)))", ExitCode(writing: reason))
        }
        return ExitCode.success.rawValue
    }

    /// Writes to a temporary file and renames it, so that a full disk leaves the old file as it was. Only this user may
    /// read it, like recordings and exports.
    private static func save(_ bytes: [UInt8], to file: String) -> Bool {
        if file == "-" { return writeAll(bytes, to: 1) }
        let part = "\(file).\(getpid()).part"
        let descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        var isSaved = writeAll(bytes, to: descriptor)
        if close(descriptor) != 0 { isSaved = false }
        if isSaved, rename(part, file) == 0 { return true }
        let reason = errno
        unlink(part)
        errno = reason
        return false
    }
}

extension SnapshotClientError {
    /// The exit code for a snapshot that was not made.
    var exitCode: ExitCode {
        switch self {
        case .notALink: .usage
        case .refused, .needsPassword, .unknownName, .tooManyAttempts: .permission
        case .closed, .unreachable, .noPicture, .noTrack: .unavailable
        case .tooLarge, .unexpected: .badData
        }
    }
}
