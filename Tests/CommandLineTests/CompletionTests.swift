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

    /// By complete(1) of fish, whose conditions say where a line counts.
    @Test("fish offers the same: commands, options, the words of a value, and files where there is one")
    func fish() {
        let lines = Self.set.completion(for: .fish).split(separator: "\n").map(String.init)
        let (first, share) = ("-n __fish_use_subcommand", "-n '__fish_seen_subcommand_from share'")
        for line in [
            // No files, unless a line says so.
            "-f",
            "\(first) -l version -d 'show the version and exit'",
            "\(first) -a share -d 'Shares what\\'s [there]: all.'", "\(first) -a show -d 'Shows.'",
            "\(first) -a paint -d 'Paints.'", "\(first) -a man -d 'Tells.'",
            "-n '__fish_seen_subcommand_from help' -a 'share show paint man'",
            "\(share) -l fps -s f -x -d 'it\\'s a number: 1'", "\(share) -l log -x -a 'error debug' -d 'how much'",
            "\(share) -l record -r -F -d 'where to'", "\(share) -l lan -d 'let others in'",
            "-n '__fish_seen_subcommand_from show' -F", "-n '__fish_seen_subcommand_from paint' -a 'red blue'",
            "-n '__fish_seen_subcommand_from man' -a 'share show paint man'",
        ] {
            #expect(lines.contains("complete -c prog " + line), "\(line)")
        }
        #expect(!lines.contains { $0.hasPrefix("complete -c prog \(share) -F") })
    }

    /// By `_describe` and `_arguments` of zshcompsys(1).
    @Test("zsh offers the same: commands, options, the words of a value, and files where there is one")
    func zsh() {
        let lines = Self.set.completion(for: .zsh).split(separator: "\n").map { line in
            let text = line.drop { $0 == " " }
            return String(text.hasSuffix(" \\") ? text.dropLast(2) : text)
        }
        let commands = lines.drop { $0 != "local -a commands=(" }.dropFirst().prefix { $0 != ")" }
        #expect(
            Array(commands) == [
                #"'share:Shares what'\''s [there]\: all.'"#, "'show:Shows.'", "'paint:Paints.'", "'man:Tells.'",
            ])
        let wanted = [
            "share": [
                #"'(-f --fps)'{-f+,--fps=}'[it'\''s a number: 1]:NUMBER:'"#,
                "'(--log)'--log='[how much]:LEVEL:(error debug)'", "'*'--record='[where to]:FILE:_files'",
                "'(--lan)'--lan'[let others in]'",
            ],
            "show": ["'1:FILE:_files'"], "paint": ["'1:COLOUR:(red blue)'"],
            "man": ["'1::COMMAND:(share show paint man)'"],
        ]
        for (command, specifications) in wanted {
            let block = lines.drop { $0 != command + ")" }.dropFirst().prefix { $0 != ";;" }
            #expect(block.first == "_arguments -s -S", "\(command)")
            for text in specifications { #expect(block.contains(text), "\(command): \(text)") }
        }
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
