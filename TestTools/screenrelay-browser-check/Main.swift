import BrowserDriver
import CommandLine
import Glibc

/// Opens a viewer's link in a real browser, and reports whether its picture arrives and moves.
@main
enum BrowserCheckProgram {
    private static let program = "screenrelay-browser-check"

    private static let command = Command(
        name: "",
        summary: "Opens a viewer's link in headless Chromium and waits until enough pictures are decoded and the "
            + "picture has changed. Ends with 0 only if both happened and the page reported no error on its console.",
        options: [
            Option(
                long: "link", short: "l", value: .required("URL"), help: "the link that a viewer would open, - or @FILE"
            ),
            Option(
                long: "frames", short: "n", value: .required("COUNT"), help: "how many pictures have to be decoded",
                default: "60"),
            Option(
                long: "timeout", short: "t", value: .required("SECONDS"),
                help: "how long to wait for them from when the page has loaded", default: "60"),
            Option(
                long: "screenshot", short: "s", value: .required("FILE"),
                help: "where to write what the page looks like in the end, as PNG", default: "browser-check.png"),
        ],
        examples: [
            Example(
                "screenrelay-browser-check --link 'http://127.0.0.1:8080/#room,token' --frames 90",
                "wait until a browser has decoded 90 pictures")
        ])

    static func main() { exit(command.run(program, run)) }

    private static func run(_ options: ParsedOptions) throws -> ExitCode {
        let link = try ValueFormat.viewerLink.read(
            RoomLinkOperand.read(options.required("link", as: .text)), option: "--link")
        let frames = try options.required("frames", as: .integer(1...1_000_000, what: "number of pictures"))
        let seconds = try options.required("timeout", as: .integer(1...3600, what: "number of seconds"))
        let path = try options.required("screenshot", as: .text)

        // A busy machine takes a long time to start a browser, which says nothing about the picture.
        let browser = try Browser.launch(within: .seconds(30))
        defer { browser.close() }
        let page = try browser.newPage(link, within: .seconds(30))
        var check = ViewerCheck(page: page, wantedFrames: frames)
        let problem = try check.run(until: ContinuousClock.now + .seconds(seconds))

        StandardStreams.print(check.summary)
        guard writeFile(try page.screenshot(), to: path) else {
            throw UsageError(
                "--screenshot \(path): can't be written: \(String(cString: strerror(errno)))", exitCode: .system)
        }
        StandardStreams.print("screenshot: \(path)\n")
        guard let problem else { return .success }
        StandardStreams.printError(problem, program: program)
        return .unavailable
    }
}

extension ValueFormat where Value == String {
    /// A link that a browser opens.
    static var viewerLink: ValueFormat<String> {
        ValueFormat(orProblem: "not a link; write it like http://127.0.0.1:8080/#room,token") { text in
            ["http://", "https://", "file://"].contains(where: text.hasPrefix) ? text : nil
        }
    }
}
