import CommandLine
import Diagnosis
import Ingest
import ScreenRelayKit
import Threading

/// `--sound`: what viewers of a share hear, and the capture of sound that it starts for that.
struct SoundOption {
    static let option = Option(
        long: "sound", value: .required("SOURCE"),
        help:
            "share the desktop's sound, the microphone or both; none is the default, because viewers would also hear "
            + "private audio, such as a call. 'screenrelay mute' and 'unmute' turn it off and on again",
        default: Source.none.rawValue, choices: Source.allCases.map(\.rawValue))

    private enum Source: String, CaseIterable {
        case none, desktop, microphone, both
    }

    /// The sound to share, as a value of `screenrelay-sound --source`; nil for none.
    static func source(_ options: ParsedOptions) throws(UsageError) -> String? {
        let source = try options.required("sound", as: ValueFormat<Source>.choice)
        return source == .none ? nil : source.rawValue
    }

    private let program: SupervisedProgram?
    private let confinement: CaptureConfinement
    /// What to look for at the start; nil if another user's sound is captured, which this user can't see.
    private let plan: SharePlan?

    /// Reads the option. The capture of sound logs as much as `log`, and runs as the user that `capture` runs as.
    init(
        _ options: ParsedOptions, confinedAs capture: ShareConfinement, log level: EventLog.Level
    ) throws(UsageError) {
        let source = try Self.source(options)
        var confinement = CaptureConfinement.sound
        confinement.copiesCredentials = capture.confinement.copiesCredentials
        self.confinement = confinement
        guard let source else {
            program = nil
            plan = nil
            return
        }
        guard let path = ProgramBeside.sound.path else {
            throw UsageError("--sound \(source): \(ProgramBeside.sound.missing)", exitCode: .unavailable)
        }
        program = .sound(
            path, ["--source", source, "--log", level.rawValue] + capture.arguments)
        var plan = SharePlan()
        (plan.soundSource, plan.soundProgram) = (source, path)
        self.plan = confinement.copiesCredentials ? nil : plan
    }

    /// Starts to capture sound for `link`, if that was asked for. If it can't, logs why: pictures are shared without
    /// it.
    func start(for link: LinkServer, log: EventLog) -> CaptureSupervisor? {
        guard let program else { return nil }
        if let plan {
            // The capture itself looks only while there are listeners. It goes on trying, so this is no error.
            _ = NamedThread("sound check", blocksSignals: true) {
                for finding in plan.soundFindings() { log.warning(finding.line) }
            }
        }
        do throws(HostError) {
            return try CaptureSupervisor(program, confinement: confinement, link: link, log: log)
        } catch {
            log.error("no sound: \(error)")
            return nil
        }
    }
}
