import CommandLine
import Glibc
import TestSupport
import Testing

@Suite("Files that are written")
struct OutputFileTests {
    @Test("a folder that isn't there is named, with the option and 73; one that is there is no problem")
    func folders() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("none/s.png")
        let problem = UsageError.missingFolder(of: file, option: "--output \(file)")
        #expect(
            problem
                == UsageError(
                    "--output \(file): folder '\(folder.file("none"))' does not exist; make it first",
                    exitCode: .cannotWrite))
        try folder.write("file", [])
        let inFile = UsageError.missingFolder(of: folder.file("file/s.png"), option: "--output")
        #expect(inFile == UsageError("--output: '\(folder.file("file"))' is not a folder", exitCode: .cannotWrite))
        for path in [folder.file("s.png"), "s.png", "/s.png"] {
            #expect(UsageError.missingFolder(of: path, option: "--output") == nil)
        }
    }

    @Test("what can't be made is 73, what isn't permitted 77, what fails while it is written 74")
    func codes() {
        for code in [ENOENT, ENOTDIR, EISDIR] { #expect(ExitCode(writing: code) == .cannotWrite) }
        for code in [EACCES, EPERM, EROFS] { #expect(ExitCode(writing: code) == .permission) }
        for code in [ENOSPC, EIO, EDQUOT] { #expect(ExitCode(writing: code) == .inputOutput) }
    }
}
