import AudioCapture
import CLinux
import CommandLine
import Glibc
import HostConnection
import LinkTransport
import Threading

/// The program that `screenrelay share --sound` starts. It has one thread, uses little memory, and may crash without
/// harming the host or the pictures.
@main
enum SoundProgram {
    private static let program = "screenrelay-sound"

    static func main() {
        // The buffers that libpulse frees go back to the system.
        mallopt(M_MMAP_THRESHOLD, 128 * 1024)
        shim_disable_huge_pages()
        // A server that dies must not kill us.
        signal(SIGPIPE, SIG_IGN)
        exit(
            Command.soundProgram.run(program) { options in
                try Confinement.enter(options)
                let level: EventLog.Level = try options.required("log", as: .choice)
                if options.wantsList { return Listing.show(program: program) }
                if options.has("check") {
                    return SoundReport.show(try options.required("source", as: .choice), program: program)
                }
                if options.has("play") { return play() }
                // This precedes the log, whose descriptors could have the number of a link that wasn't inherited.
                let configuration = try settings(options)
                var sandbox = options.sandbox(for: configuration.link)
                // The sound server may be on another machine.
                sandbox?.sockets = .network
                sandbox?.readable = PulseFiles.readable
                sandbox?.listable = PulseFiles.runtimeFolders
                if sandbox != nil { LineWriter.standardError.hold() }
                return capture(configuration, sandbox, log: .standardError(program: program, level: level))
            })
    }

    /// Plays what `screenrelay view` passes on.
    private static func play() -> ExitCode {
        do throws(AudioError) {
            try SoundPlayback.play(from: STDIN_FILENO)
            return .success
        } catch {
            StandardStreams.printError("\(error)", program: program)
            return ExitCode(error.kind)
        }
    }

    private static func settings(_ options: ParsedOptions) throws(UsageError) -> AudioConfiguration {
        let link = try options.link() ?? .standard()
        let token = try options.captureKey(for: link)
        if link.network?.port == 0 { throw UsageError("--link \(link): only a host can use port 0") }
        let sound = try SoundOptions(options)
        let desktop = AudioConfiguration.Source(.desktop, device: sound.desktopDevice, gain: sound.desktopGain)
        let microphone = AudioConfiguration.Source(
            .microphone, device: sound.microphoneDevice, gain: sound.microphoneGain)
        let sources =
            switch sound.source {
            case .desktop: [desktop]
            case .microphone: [microphone]
            case .both: [desktop, microphone]
            }
        var configuration = AudioConfiguration(link: link, sources: sources, channelCount: sound.channelCount)
        configuration.linkToken = token
        configuration.bitRate = sound.bitRate
        return configuration
    }

    private static func capture(
        _ configuration: AudioConfiguration, _ sandbox: Sandbox?, log: EventLog
    ) -> ExitCode {
        do throws(AudioError) {
            guard let signals = ProcessSignals() else { throw .system(call: "eventfd", code: errno) }
            let agent = try AudioAgent(configuration, stopDescriptor: signals.descriptor, log: log)
            if let sandbox {
                // Each time that it connects, libpulse also asks the display for the server, and complains if it can't.
                unsetenv("DISPLAY")
                sandbox.enter(log: log)
            }
            let end = try agent.run()
            log.info(end == .stopped ? "stopped" : "the host is gone")
            return .success
        } catch {
            let place = if case .link = error { "--link \(configuration.link): " } else { "" }
            StandardStreams.printError("\(place)\(error)", program: program)
            return ExitCode(error.kind)
        }
    }
}
