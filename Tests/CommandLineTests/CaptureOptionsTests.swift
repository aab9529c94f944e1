import CommandLine
import LinkTransport
import MediaTypes
import Testing

@Suite("A capture's options")
struct CaptureOptionsTests {
    private let command = Command(
        name: "", summary: "Captures.",
        options: CaptureOptions.options + [Option(long: "link", value: .required("LINK"), help: "where")])

    @Test(
        "what share hands on is read by capture as the same",
        arguments: [[], ["--display", ":7"], ["-f", "15", "-b", "2.5M"], ["--display=:0.1", "--bitrate", "600k"]])
    func handedOn(arguments: [String]) throws {
        let options = try CaptureOptions(command.parse(arguments, program: "share"))
        #expect(try CaptureOptions(command.parse(options.arguments, program: "capture")) == options)
    }

    @Test("without options it is 30 pictures a second of DISPLAY, in 4 Mbit/s")
    func defaults() throws {
        let options = try CaptureOptions(command.parse([], program: "share"))
        #expect(options.display == nil)
        #expect(options.framesPerSecond == 30)
        #expect(options.bitRate == BitRate(bitsPerSecond: 4_000_000))
    }

    @Test("a link is a socket's path or a descriptor, and anything else is told what would be right")
    func link() throws {
        #expect(try command.parse(["--link", "fd:3"], program: "p").value("link", as: .link) == .descriptor(3))
        let error = #expect(throws: UsageError.self) {
            _ = try command.parse(["--link", "tcp:1"], program: "p").value("link", as: .link)
        }
        #expect(error?.description.hasPrefix("--link tcp:1: ") == true)
        #expect(error?.exitCode == .usage)
    }

    @Test("a link's failure ends a program by its kind")
    func exitCodes() {
        #expect(ExitCode(LinkTransportError.notListening(path: "s").kind) == .unavailable)
        #expect(ExitCode(LinkTransportError.permissionDenied(path: "s").kind) == .permission)
        #expect(ExitCode(LinkTransportError.closed.kind) == .unavailable)
        #expect(ExitCode(LinkTransportError.system(call: "c", subject: "", code: 1).kind) == .system)
    }
}
