import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("What makes the programs at home on a system", .enabled(if: EndToEnd.isPossible))
    struct SetupCommands {
        private func run(_ words: [String], in folder: String? = nil) throws -> (
            status: ProcessStatus?, text: String, errors: String
        ) {
            var launch = Launch(words[0], Array(words.dropFirst()))
            launch.environment = RunningProgram.environment.merging(["LC_ALL": "C.UTF-8"]) { $1 }
            launch.workingFolder = folder
            launch.standardOutput = .text(limit: 1 << 20)
            launch.standardError = .text(limit: 1 << 20)
            let (status, text, errors) = try ChildProcess.run(launch, within: .seconds(90))
            return (status, text, errors)
        }

        @Test(
            "all manual pages are written, and groff has nothing to say against them",
            .enabled(if: access("/usr/bin/groff", X_OK) == 0))
        func pages() throws {
            let folder = try TemporaryFolder()
            #expect(try CommandLineRun(["screenrelay", "man", "-o", folder.path]).status == .exited(0))
            let names = [
                "screenrelay", "screenrelay-share", "screenrelay-host", "screenrelay-capture", "screenrelay-remove",
                "screenrelay-sound", "screenrelay-mute",
            ]
            for name in names { #expect(access(folder.file("\(name).1"), R_OK) == 0, "\(name)") }
            let shown = try run(["/usr/bin/bash", "-c", "groff -man -Tutf8 -P-cbou -ww -rLL=80n *.1"], in: folder.path)
            #expect(shown.status == .exited(0) && shown.errors.isEmpty, "\(shown.errors)")
            for word in ["--chroma", "--admin-token-file", "EXIT STATUS"] {
                #expect(shown.text.contains(word), "\(word)")
            }
            // A single page is the same as what is printed.
            let printed = try CommandLineRun(["screenrelay", "man", "share"]).output
            #expect(try fileBytes(folder.file("screenrelay-share.1")) == Array(printed.utf8))
        }

        @Test("bash completes the real commands and options")
        func completion() throws {
            let folder = try TemporaryFolder()
            let script = try CommandLineRun(["screenrelay", "completion", "bash"]).output
            let path = try folder.write("completion", Array(script.utf8))
            let asked = """
                source \(path)
                COMP_WORDS=(screenrelay share --chroma ''); COMP_CWORD=3; _screenrelay; echo "${COMPREPLY[*]}"
                COMP_WORDS=(screenrelay rem); COMP_CWORD=1; _screenrelay; echo "${COMPREPLY[*]}"
                COMP_WORDS=(screenrelay config ''); COMP_CWORD=2; _screenrelay; echo "${COMPREPLY[*]//--*/}"
                COMP_WORDS=(screenrelay capture --pause); COMP_CWORD=2; _screenrelay; echo "${COMPREPLY[*]}"
                """
            let answer = try run(["/usr/bin/bash", "--norc", "-c", asked])
            let lines = answer.text.split(separator: "\n").map { $0.drop { $0 == " " } }
            #expect(
                lines == [
                    "420 444 444,420", "remove", "share host capture sound replay snapshot inspect export",
                    "--pause-when-locked",
                ], "\(answer.text) \(answer.errors)")
        }

        @Test("the systemd unit starts this very program", .enabled(if: access("/usr/bin/systemd-analyze", X_OK) == 0))
        func unit() throws {
            let folder = try TemporaryFolder()
            let text = try CommandLineRun(["screenrelay", "systemd-unit"]).output
            #expect(text.contains("ExecStart=\"\(try #require(builtProgram("screenrelay")))\" share"))
            let path = try folder.write("screenrelay.service", Array(text.utf8))
            let checked = try run(
                [
                    "/usr/bin/env", "XDG_RUNTIME_DIR=\(folder.path)", "HOME=\(folder.path)", "/usr/bin/systemd-analyze",
                    "verify",
                    "--user", "--man=no", path,
                ])
            #expect(checked.status == .exited(0) && checked.errors.isEmpty, "\(checked.errors)")
        }

        @Test("the settings file that 'config' prints has all options, and says nothing")
        func template() throws {
            let folder = try TemporaryFolder()
            let text = try CommandLineRun(["screenrelay", "config"]).output
            for line in ["[all]", "[share]", "[capture]", "#fps=30", "#hide=WINDOW;WINDOW", "#lan=true"] {
                #expect(text.contains("\n\(line)\n"), "\(line)")
            }
            let path = try folder.write("config", Array(text.utf8))
            let run = try CommandLineRun(["screenrelay", "share", "--config", path, "--fps", "0"])
            #expect(run.errorLine?.contains("--fps 0: not a frame rate") == true, "\(run.errorOutput)")
        }
    }
}
