import BrowserDriver
import CommandLine
import Glibc
import PageStories

/// Takes screenshots of the viewer's page in every state that it can be in in one room, on a desktop's screen and a
/// phone's, light and dark.
@main
enum ScreenshotsProgram {
    private static let program = "screenrelay-screenshots"

    private static let command = Command(
        name: "",
        summary: "Opens a room's links in headless Chromium as different users, who do what people do in rooms, and "
            + "writes a PNG of each state of their pages into a folder, 1280 and 390 pixels wide, light and dark. Ends "
            + "with 0 only if each state was reached and no page reported an error on its console.",
        options: [
            Option(
                long: "link", short: "l", value: .required("URL"), help: "the link that a viewer would open, - or @FILE"
            ),
            Option(
                long: "presenters-link", value: .required("URL"),
                help: "the link that a presenter would open, or @FILE; all rooms but stale need it"),
            Option(
                long: "room", short: "r", value: .required("ROOM"),
                help: "what is shared in the room, in which nobody has done anything yet: "
                    + names(of: PageStory.Room.self)),
            Option(
                long: "language", value: .required("LANGUAGE"),
                help: "the page's language: \(names(of: PageStory.Language.self))", default: "en"),
            Option(
                long: "folder", short: "o", value: .required("FOLDER"), help: "where to write the pictures",
                default: "."),
        ],
        examples: [
            Example(
                "screenrelay-screenshots --link @viewers --presenters-link @presenters --room desktop -o pictures",
                "pictures of a room in which a screen is shared")
        ])

    static func main() { exit(command.run(program, run)) }

    private static func run(_ options: ParsedOptions) throws -> ExitCode {
        let links = PageStory.Links(
            viewer: try RoomLinkOperand.read(options.required("link", as: .text)),
            presenter: try options.value("presenters-link").map(RoomLinkOperand.read) ?? "")
        let room = try options.required("room", as: .nameOf(PageStory.Room.self))
        let language = try options.required("language", as: .nameOf(PageStory.Language.self))
        let folder = try options.required("folder", as: .text)

        let browser = try Browser.launch(extraFlags: PageStory.browserFlags, within: .seconds(30))
        defer { browser.close() }
        var messages: [String] = []
        for story in PageStory.all where story.room == room {
            try story.play(links, in: language, of: browser) { page, state, prepare in
                for (screen, isDark) in PageScreen.all {
                    try screen.set(on: page, isDark: isDark)
                    try prepare()
                    try page.settle(for: .milliseconds(300))
                    let scheme = isDark ? "dark" : "light"
                    let path = "\(folder)/\(state)-\(language.rawValue)-\(screen.name)-\(scheme).png"
                    guard writeFile(try page.screenshot(), to: path) else {
                        throw UsageError(
                            "--folder: \(path) can't be written: \(String(cString: strerror(errno)))",
                            exitCode: .system)
                    }
                    StandardStreams.print(path + "\n")
                }
                if let message = page.consoleErrors.first { messages.append("\(state): \(message)") }
            }
        }
        for message in messages {
            StandardStreams.printError("a page's console has an error: \(message)", program: program)
        }
        return messages.isEmpty ? .success : .unavailable
    }

    private static func names<Choice: RawRepresentable<String> & CaseIterable>(of type: Choice.Type) -> String {
        type.allCases.map(\.rawValue).joined(separator: ", ")
    }
}

extension ValueFormat where Value: RawRepresentable<String> & CaseIterable & Sendable {
    /// The name of a case.
    fileprivate static func nameOf(_ type: Value.Type) -> ValueFormat<Value> {
        let names = type.allCases.map(\.rawValue).joined(separator: ", ")
        return ValueFormat(orProblem: "not one of \(names)") { Value(rawValue: $0) }
    }
}
