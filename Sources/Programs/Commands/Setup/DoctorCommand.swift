import CommandLine
import Diagnosis
import Glibc
import LinkTransport
import MediaTypes
import ScreenRelayKit
import Signalling

/// `screenrelay doctor`: checks the requirements of a share with the given options.
enum DoctorCommand {
    static let command = Command(
        name: "doctor",
        summary: "Checks whether 'screenrelay share' with the same options will work; prints each problem and its fix.",
        options: [
            Option(
                long: "browser", value: .optional("PROGRAM"),
                help: "also check a browser: open a page in it that reports its abilities, with this program instead "
                    + "of xdg-open; none: only print the page's address, which can be opened within 30 s"),
            Option(
                long: "capture-key", value: .required("FILE"),
                help: "also check this file, the capture key of a host and a capture on two machines",
                formerNames: Option.formerCaptureKey),
            Option(long: "json", help: "for programs: findings and capacity as one JSON object (Protocol/control.md)"),
        ].under(.checks) + sharedOptions,
        examples: [
            Example("screenrelay doctor", "Checks this machine, and prints how many viewers it can serve."),
            Example("screenrelay doctor --lan --browser", "Checks it for sharing with others, and the browser."),
            Example(
                "screenrelay doctor --ice-server turn:turn.example --ice-secret-file secret",
                "Also requests a relay from the TURN server."),
        ], alternatives: ShareCommand.command.alternatives, settingsOf: ShareCommand.command.name)

    /// All options of `share`, so that its command line can be checked as it is. Help shows only the options that
    /// change the checks.
    private static let sharedOptions: [Option] = {
        let checked = [
            "source", "display", "monitor", "window", "region", "pause-when-locked", "scale", "size", "chroma",
            "capture-memory", "sound",
            "room", "listen",
            "udp-port", "rtsp", "rtmp", "srt", "srt-passphrase-file", "lan", "open", "token-file",
            "present-token-file", "password-file", "admin-token-file",
            "tls",
            "tls-cert", "tls-key", "ice-server", "ice-secret-file",
        ]
        return ShareCommand.command.options.filter { !["list", "json"].contains($0.long) }.map { option in
            var option = option
            option.isHidden = !checked.contains(option.long)
            return option
        }
    }()

    /// How long the checks may take, side by side.
    private static let timeout = Interval.seconds(15)
    /// How long to wait for the user to open the page for the browser.
    private static let browserTimeout = Interval.seconds(30)

    /// `given` is without the settings file.
    static func run(_ given: ParsedOptions) throws(UsageError) -> Int32 {
        let (options, leak) = try SettingsLookup.examine(given, of: command.name)
        var (plan, findings) = try plan(options)
        if let leak { findings.insert(Finding("file-mode", line: leak.description), at: 0) }
        plan.captureProgram = ProgramBeside.capture.path
        plan.soundProgram = ProgramBeside.sound.path
        findings += Check.run(plan.checks(now: time(nil)), within: timeout)
        if options.has("browser") {
            let program = options.value("browser").flatMap { $0.isEmpty ? nil : $0 } ?? "xdg-open"
            findings += BrowserCheck(program: program == "none" ? nil : program, timeout: browserTimeout).findings {
                StandardStreams.printError("open this page in the browser to check: \($0)", program: Program.name)
            }
        }
        let capacity = ViewerCapacity.ofThisMachine
        let faults = findings.isEmpty ? ["Nothing is wrong."] : findings.map { printable($0.line) }
        let lines = options.has("json") ? [findings.json(with: capacity)] : faults + capacity.lines
        let text = lines.map { $0 + "\n" }.joined()
        let code = Program.answer(text)
        return findings.isEmpty || code != ExitCode.success.rawValue ? code : ExitCode.unavailable.rawValue
    }

    /// The requirements of a share with these options, and the problems found so far. Creates no file.
    private static func plan(_ options: ParsedOptions) throws(UsageError) -> (SharePlan, [Finding]) {
        var plan = SharePlan()
        var findings: [Finding] = []
        let capture = try CaptureOptions(options)
        plan.isDesktop = capture.system == .wayland
        plan.display = capture.display
        plan.captureArguments = capture.arguments
        plan.expectation = ShareConfinement.expectation(of: capture)
        plan.captureMemory = try ShareConfinement.memory(options, capture)
        plan.isOpenToNetwork = options.has("lan")
        plan.listen = try HostOptions.listenAddresses(options)
        plan.mediaAddress = try HostOptions.mediaAddress(options, listen: plan.listen)
        plan.rtsp = try RTSPOption.place(options, listen: plan.listen).address
        plan.rtmp = try RTMPOption.place(options, listen: plan.listen).address
        plan.srt = try SRTOption.place(options, listen: plan.listen).address
        _ = try usable(&findings) { () throws(UsageError) in try SRTOption.passphrase(options) }
        _ = try AdvertiseOption.addresses(options)
        // These also hide keys from users who list processes.
        _ = try PushOption(options)
        _ = try JoinOption(options)
        plan.soundSource = try SoundOption.source(options)
        plan.iceServers = try usable(&findings) { () throws(UsageError) in try ICEOptions.servers(options) } ?? []
        plan.makesCertificate = try AccessOptions.makesCertificate(options)
        if plan.makesCertificate {
            if let problem = brokenCertificate { findings.append(problem) }
        } else {
            plan.certificate =
                try usable(&findings) { () throws(UsageError) in try AccessOptions.certificate(options) } ?? nil
        }
        if options.has("password-file") {
            _ = try usable(&findings) { () throws(UsageError) in try AccessOptions.password(options) }
        }
        _ = try usable(&findings) { () throws(UsageError) in try captureKey(options) }
        if let warning = capture.waylandWarning { findings.append(Finding("wayland", line: warning)) }
        (plan.secretFiles, plan.ownFolders) = try files(options, plan)
        return (plan, findings)
    }

    /// The value of options that name files. A problem with a file is a finding; a mistake on the command line is an
    /// error as with `share`.
    private static func usable<Value>(
        _ findings: inout [Finding], _ read: () throws(UsageError) -> Value
    ) throws(UsageError) -> Value? {
        do throws(UsageError) {
            return try read()
        } catch  where error.exitCode != .usage {
            findings.append(Finding(error.exitCode == .permission ? "file-mode" : "file", line: error.description))
            return nil
        }
    }
}
