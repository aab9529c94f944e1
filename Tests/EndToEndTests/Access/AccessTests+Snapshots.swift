import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

/// Where a snapshot gets the link from.
extension EndToEndBesideBrowser.AccessTests {
    @Test("a snapshot takes the link from standard input or a file, and only its user can read what it saves")
    func snapshotLink() throws {
        let desktop = try SharedDesktop(apart: .hostFirst)
        defer { desktop.stop() }
        try desktop.host.waitForLog(EndToEnd.LinkBetweenPrograms.cameTogether)
        // This is what the redirected output of share looks like.
        let file = try folder.write("link", Array("Sharing :0 to the room screen.\n\(desktop.link)\r\nmore\n".utf8))
        let program = try #require(builtProgram("screenrelay"))
        for (given, redirection) in [("@\(file)", "</dev/null"), ("-", "<\(file)")] {
            let picture = folder.file("picture.png")
            var launch = Launch(
                "/bin/sh",
                [
                    "-c", "umask 0; exec \"$0\" snapshot \"$1\" -o \"$2\" \(redirection)", program, given,
                    picture,
                ])
            launch.standardError = .text(limit: 1000)
            let run = try ChildProcess.run(launch, within: .seconds(90))
            #expect(run.status == .exited(0), "\(run.errorOutput)")
            #expect(try fileBytes(picture).starts(with: [0x89, 0x50, 0x4E, 0x47]))
            var status = stat()
            #expect(stat(picture, &status) == 0 && status.st_mode & 0o777 == 0o600)
            unlink(picture)
        }
    }

    @Test("a file without a link, or none at all, is told by name")
    func noLink() throws {
        let file = try folder.write("nothing", Array("no link\nftp://here\n".utf8))
        func snapshot(_ link: String) throws -> CommandLineRun {
            try CommandLineRun(["screenrelay", "snapshot", link, "-o", folder.file("s.png")])
        }
        let empty = try snapshot("@\(file)")
        #expect(empty.status == .exited(65))
        #expect(empty.errorLine?.contains("@\(file): there is no invite link") == true, "\(empty.errorOutput)")
        let missing = try snapshot("@\(folder.file("none"))")
        #expect(missing.status == .exited(66))
        #expect(missing.errorLine?.hasSuffix("No such file or directory") == true, "\(missing.errorOutput)")
    }
}
