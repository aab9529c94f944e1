import BrowserDriver
import CommandLine
import Glibc

/// Takes screenshots of the viewer's page in one state: on three screens, light and dark.
@main
enum ScreenshotsProgram {
    private static let program = "screenrelay-screenshots"

    private static let command = Command(
        name: "",
        summary:
            "Opens a viewer's link in headless Chromium on a large screen, a small one and a phone, each light and "
            + "dark, waits until the page is in a state, and writes a PNG of each into a folder. Ends with 0 only if the "
            + "page came into that state each time and reported no error on its console.",
        options: [
            Option(
                long: "link", short: "l", value: .required("URL"), help: "the link that a viewer would open, - or @FILE"
            ),
            Option(
                long: "state", short: "s", value: .required("STATE"),
                help: "what the page has to show: \(PageState.allCases.map(\.rawValue).joined(separator: ", "))"),
            Option(
                long: "folder", short: "o", value: .required("FOLDER"), help: "where to write the pictures",
                default: "."),
        ],
        examples: [
            Example(
                "screenrelay-screenshots --link 'http://127.0.0.1:8080/#room,token' --state playing -o pictures",
                "six pictures of a page that plays")
        ])

    static func main() { exit(command.run(program, run)) }

    private static func run(_ options: ParsedOptions) throws -> ExitCode {
        let link = try RoomLinkOperand.read(options.required("link", as: .text))
        let state = try options.required("state", as: .pageState)
        let folder = try options.required("folder", as: .text)

        let browser = try Browser.launch(within: .seconds(30))
        defer { browser.close() }
        for screen in PageScreen.all {
            for isDark in [false, true] {
                let page = try browser.newPage()
                try screen.set(on: page, isDark: isDark)
                try page.navigate(link)
                try state.reach(on: page)
                let path = "\(folder)/\(state.rawValue)-\(screen.name)-\(isDark ? "dark" : "light").png"
                guard writeFile(try page.screenshot(), to: path) else {
                    throw UsageError(
                        "--folder: \(path) can't be written: \(String(cString: strerror(errno)))", exitCode: .system)
                }
                StandardStreams.print(path + "\n")
                if let message = page.consoleErrors.first {
                    StandardStreams.printError("the page's console has an error: \(message)", program: program)
                    return .unavailable
                }
                page.close()
            }
        }
        return .success
    }
}

extension ValueFormat where Value == PageState {
    /// The name of a state.
    static var pageState: ValueFormat<PageState> {
        let names = PageState.allCases.map(\.rawValue).joined(separator: ", ")
        return ValueFormat(orProblem: "not a state of the page; it is one of \(names)") { PageState(rawValue: $0) }
    }
}
