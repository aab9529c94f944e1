import CommandLine

/// `screenrelay capture`: replaces this process by screenrelay-capture, which links far fewer libraries.
enum CaptureLauncher {
    static let command = ProgramBeside.capture.command(
        "capture", "Captures a display for 'screenrelay host', which runs separately.", .captureProgram)

    /// Replaces this process by a capture with the options from the command line and the settings file. Returns only if
    /// that fails.
    static func run(_ options: ParsedOptions) throws(UsageError) -> Int32 {
        // Check the values here: the other program can't name their position in the settings file.
        _ = try CaptureOptions(options)
        return ProgramBeside.capture.become(options.argumentsWithoutSettings).rawValue
    }
}
