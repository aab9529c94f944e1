import CommandLine
import Glibc
import Processes
import TestSupport
import Testing

@Suite("Completion")
struct CompletionTests {
    private static let set = CommandSet(
        program: "prog", summary: "Does it.", version: "1",
        commands: [
            Command(
                name: "share", summary: "Shares what's [there]: all.",
                options: [
                    Option(long: "fps", short: "f", value: .required("NUMBER"), help: "it's a number: 1"),
                    Option(
                        long: "log", value: .required("LEVEL"), help: "how much", choices: ["error", "debug"]),
                    Option(long: "record", value: .required("FILE"), help: "where to", repeats: true),
                    Option(long: "lan", help: "let others in"),
                ]),
            Command(name: "show", summary: "Shows.", operands: Operands(name: "FILE", count: 1...1)),
            Command(
                name: "paint", summary: "Paints.",
                operands: Operands(name: "COLOUR", count: 1...1, choices: ["red", "blue"])),
            Command(name: "man", summary: "Tells.", operands: Operands(name: "COMMAND", count: 0...1)),
        ])

    /// What a bash of its own offers for the last of `words`.
    private func offers(_ words: [String]) throws -> Set<String> {
        let folder = try TemporaryFolder()
        _ = try folder.write("record one.srr", [])
        _ = try folder.write("prog.bash", Array(Self.set.completion(for: .bash).utf8))
        let script = """
            cd \(folder.path); set -u; source ./prog.bash; rm prog.bash
            COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
            _prog prog "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            for one in ${COMPREPLY[@]+"${COMPREPLY[@]}"}; do printf '%s\\n' "$one"; done
            """
        var launch = Launch("/usr/bin/bash", ["--norc", "-c", script, "bash", "prog"] + words)
        launch.standardOutput = .text(limit: 1 << 16)
        launch.standardError = .text(limit: 1 << 16)
        let (status, output, errors) = try ChildProcess.run(launch, within: .seconds(10))
        #expect(status == .exited(0) && errors.isEmpty, "\(errors)")
        return Set(output.split(separator: "\n").map(String.init))
    }

    @Test("bash offers commands, options, the words of a value, files where there is one, and nothing elsewhere")
    func bash() throws {
        #expect(try offers(["sh"]) == ["share", "show"])
        #expect(try offers([""]).isSuperset(of: ["share", "show", "paint", "man", "help"]))
        #expect(try offers(["help", "sh"]) == ["share", "show"])
        #expect(try offers(["share", "--l"]) == ["--log", "--lan"])
        #expect(try offers(["share", "--lan", "--f"]) == ["--fps"])
        #expect(try offers(["share", "--log", ""]) == ["error", "debug"])
        #expect(try offers(["share", "--log", "=", "d"]) == ["debug"])
        #expect(try offers(["share", "--log", "="]) == ["error", "debug"])
        #expect(try offers(["share", "-f", ""]).isEmpty)
        #expect(try offers(["share", "--record", "rec"]) == ["record one.srr"])
        #expect(try offers(["show", "rec"]) == ["record one.srr"])
        #expect(try offers(["show", "--h"]) == ["--help"])
        #expect(try offers(["paint", ""]).isSuperset(of: ["red", "blue"]))
        #expect(try offers(["man", "pa"]) == ["paint"])
        #expect(try offers(["unknown", ""]).isEmpty)
    }

    @Test("each shell that is here reads its script without a complaint", arguments: CompletionShell.allCases)
    func syntax(_ shell: CompletionShell) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("script", Array(Self.set.completion(for: shell).utf8))
        let program = "/usr/bin/\(shell.rawValue)"
        guard access(program, X_OK) == 0 else { return }
        var launch = Launch(program, ["-n", path])
        launch.standardError = .text(limit: 1 << 16)
        let (status, _, errors) = try ChildProcess.run(launch, within: .seconds(10))
        #expect(status == .exited(0) && errors.isEmpty, "\(errors)")
    }

    @Test("every command and option is in every script", arguments: CompletionShell.allCases)
    func completeness(_ shell: CompletionShell) {
        let script = Self.set.completion(for: shell)
        for word in ["share", "show", "paint", "fps", "log", "record", "lan", "error", "debug", "red", "blue"] {
            #expect(script.contains(word), "\(word)")
        }
    }
}
