import CommandLine

/// `screenrelay sound`: replaces this process by screenrelay-sound.
enum SoundLauncher {
    static let command = ProgramBeside.sound.command(
        "sound", "Captures a desktop's sound or a microphone for 'screenrelay host', which runs separately.",
        .soundProgram)

    /// Replaces this process by a capture of sound with the options from the command line and the settings file.
    /// Returns only if that fails.
    static func run(_ options: ParsedOptions) -> Int32 {
        ProgramBeside.sound.become(options.argumentsWithoutSettings).rawValue
    }
}
