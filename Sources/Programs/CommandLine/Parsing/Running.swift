extension Command {
    /// Runs `program`, which has only this command: prints what `--help` or `--version` asks for, or calls `work`.
    ///
    /// Prints an error as one line on standard error and returns the exit code. `work` throws ``UsageError`` for a
    /// mistake on the command line; any other error exits with ``ExitCode/unavailable``.
    public func run(
        _ program: String, arguments: [String] = Array(Swift.CommandLine.arguments.dropFirst()),
        _ work: (ParsedOptions) throws -> ExitCode
    ) -> Int32 {
        runProgram(
            program,
            { () throws(UsageError) in
                try select(arguments, program: program, version: "\(program) \(programVersion)")
            }, { try work($1).rawValue })
    }
}

extension CommandSet {
    /// Runs the program like ``Command/run(_:arguments:_:)``. `work` also gets the command's name.
    ///
    /// `complete` adds the options of a settings file to the options of the command line.
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
    // Give the last messages time to be written.
    defer { LineWriter.standardError.flush() }
    do {
        switch try select() {
        case .print(let text): return StandardStreams.answer(text, program: program).rawValue
        case .explain(let text):
            StandardStreams.printUsage(text)
            return ExitCode.usage.rawValue
        case .run(let command, let options): return try work(command, options)
        }
    } catch {
        StandardStreams.printError("\(error)", program: program)
        return ((error as? UsageError)?.exitCode ?? .unavailable).rawValue
    }
}
