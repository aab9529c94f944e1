import CommandLine
import MediaTypes
import Testing

@Suite("Running a program")
struct RunningTests {
    private struct Missing: Error {}

    private static let command = Command(
        name: "", summary: "Does it.", options: [Option(long: "count", value: .required("N"), help: "how often")])
    private static let set = CommandSet(
        program: "prog", summary: "Does it.", version: screenRelayVersion,
        commands: [Command(name: "go", summary: "Goes.")])

    private func run(_ arguments: [String], _ work: (ParsedOptions) throws -> ExitCode) -> Int32 {
        Self.command.run("prog", arguments: arguments, work)
    }

    @Test("the work's own end is the program's, and an error ends it with what it stands for")
    func ends() {
        #expect(run([]) { _ in .success } == 0)
        #expect(run([]) { _ in .badData } == 65)
        #expect(run([]) { _ in throw UsageError("no", exitCode: .permission) } == 77)
        #expect(run([]) { _ in throw Missing() } == 69)
        #expect(
            run(["--count", "x"]) {
                _ = try $0.value("count", as: .integer(1...2)); return .success
            } == 64)
    }

    @Test("help, version and a wrong command line end the program before its work begins")
    func noWork() {
        for (arguments, end) in [(["--help"], Int32(0)), (["--version"], 0), (["--wrong"], 64), (["operand"], 64)] {
            var hasWorked = false
            let code = run(arguments) { _ in
                hasWorked = true
                return .success
            }
            #expect(code == end)
            #expect(!hasWorked)
        }
    }

    @Test("a program with commands gets the command's name and ends with whatever number that gives")
    func commands() {
        #expect(Self.set.run(arguments: ["go"]) { command, _ in command == "go" ? 137 : 0 } == 137)
        #expect(Self.set.run(arguments: ["stay"]) { _, _ in 0 } == 64)
    }
}
