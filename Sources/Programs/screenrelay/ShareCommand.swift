import CommandLine
import Glibc
import Ingest
import LinkTransport
import MediaTypes
import ScreenRelayKit

/// `screenrelay share`: a host, and a capture that it keeps running.
enum ShareCommand {
    static let command = Command(
        name: "share",
        summary: "Shares a display to a room and prints the link that opens it in a browser.",
        options: CaptureOptions.options + HostOptions.options,
        examples: [
            Example("screenrelay share", "Shares $DISPLAY to browsers of this machine."),
            Example("screenrelay share --lan --room demo", "Shares it to whoever in the network has the link."),
        ])

    static func run(_ options: ParsedOptions) throws(UsageError) -> Int32 {
        let configuration = try HostOptions.configuration(options)
        let log = try HostOptions.log(options)
        let capture = try CaptureOptions(options)
        let arguments = capture.arguments + ["--log", options.value("log") ?? Log.Level.warning.rawValue]
        guard let program = CaptureCommand.program else {
            return Program.fail(CaptureCommand.missing, .unavailable)
        }
        guard let end = EndSignals() else { return Program.fail("no descriptor left for signals", .system) }
        do throws(HostError) {
            let host = try ScreenRelayHost(configuration, log: log) { state in
                if state == .live { end.becameReady() }
            }
            defer { host.stop() }
            let link = try host.openLink(at: nil)
            defer { link.stop() }
            let supervisor = try CaptureSupervisor(program: program, arguments: arguments, link: link, log: log) {
                end.end(with: $0)
            }
            defer { supervisor.stop() }
            // A link to nothing is no help: a display that can't be captured ends us before it is printed.
            if let code = end.waitUntilReady(within: captureStart) { return code }
            StandardStreams.print(
                "Sharing \(capture.display ?? display) to the room \(host.room). Ctrl-C ends it.\n"
                    + HostOptions.links(to: host))
            return end.wait()
        } catch {
            return Program.fail(error.description, error.exitCode)
        }
    }

    /// How long a capture may take to come up before the link is printed all the same.
    private static let captureStart = Interval.seconds(5)

    private static var display: String { getenv("DISPLAY").map { String(cString: $0) } ?? "the display" }
}
