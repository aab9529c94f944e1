import MediaTypes

extension Command {
    /// Runs `program`, which has only this command: prints what `--help` or `--version` asks for, or has `work` done.
    ///
    /// What is wrong is said in one line on standard error; gives what to end the process with. `work` throws ``UsageError``
    /// for what the user typed wrong, any other error where something that is needed is not there.
    public func run(
        _ program: String, arguments: [String] = Array(Swift.CommandLine.arguments.dropFirst()),
        _ work: (ParsedOptions) throws -> ExitCode
    ) -> Int32 {
        runProgram(
            program,
            { () throws(UsageError) in
                try select(arguments, program: program, version: "\(program) \(screenRelayVersion)")
            }, { try work($1).rawValue })
    }
}

extension CommandSet {
    /// Runs the program, as ``Command/run(_:arguments:_:)`` does; `work` also gets the name of the command.
    ///
    /// `complete` adds to a command's options what a settings file says.
    public func run(
        arguments: [String] = Array(Swift.CommandLine.arguments.dropFirst()),
        complete: (_ command: String, ParsedOptions) throws -> ParsedOptions = { $1 },
        _ work: (_ command: String, ParsedOptions) throws -> Int32
    ) -> Int32 {
        runProgram(program, { () throws(UsageError) in try select(arguments) }) { command, options in
            try work(command, try complete(command, options))
        }
    }
}

private func runProgram(
    _ program: String, _ select: () throws(UsageError) -> CommandSet.Invocation,
    _ work: (String, ParsedOptions) throws -> Int32
) -> Int32 {
    // What was said last is to be read, unless nobody does.
    defer { LineWriter.standardError.flush() }
    do {
        switch try select() {
        case .print(let text): return StandardStreams.answer(text, program: program).rawValue
        case .run(let command, let options): return try work(command, options)
        }
    } catch {
        StandardStreams.printError("\(error)", program: program)
        return ((error as? UsageError)?.exitCode ?? .unavailable).rawValue
    }
}
