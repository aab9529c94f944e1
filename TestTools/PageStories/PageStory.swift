public import BrowserDriver

/// What users do on their pages of one room, and the states of these pages to look at on the way.
public struct PageStory: Sendable {
    let name: String
    /// The room that it is played in.
    public let room: Room
    let steps: [Step]

    init(_ name: String, in room: Room, _ steps: [Step]...) {
        self.name = name
        self.room = room
        self.steps = steps.flatMap { $0 }
    }

    /// What is shared in the room when a story begins. Each has a link for presenters, except `stale`.
    public enum Room: String, CaseIterable, Sendable {
        /// A capture shares a screen.
        case desktop
        /// No screen is shared, and viewers wait until they are let in.
        case door
        /// No screen is shared.
        case empty
        /// A capture has shared a screen and is gone.
        case stale
    }

    /// The room's links.
    public struct Links: Sendable {
        let viewer: String
        let presenter: String

        /// `presenter` may be empty if the stories of the room need no such link.
        public init(viewer: String, presenter: String) {
            self.viewer = viewer
            self.presenter = presenter
        }
    }

    /// A language of the page: what `?lang=` is in its address.
    public enum Language: String, CaseIterable, Sendable {
        case english = "en"
        case chinese = "zh"
    }

    /// The flags of a browser for ``play(_:in:of:look:)``: it has two cameras and a microphone, which it opens without
    /// a question.
    public static let browserFlags = [
        "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream=fps=5,device-count=2",
    ]

    enum User: String, Sendable {
        case ann = "Ann"
        case bob = "Bob"
        case eve = "Eve"
        case fay = "Fay"
    }

    enum Link: Sendable {
        case viewer, presenter
        /// With a token that isn't the room's.
        case wrong
        /// Without room and token.
        case bare
    }

    /// A step of one user.
    enum Step: Sendable {
        /// Opens the link in a new page, and waits until a condition holds; the script runs before those of the page.
        case open(User, Link, isNamed: Bool = true, script: String = "", until: String)
        /// Evaluates an expression.
        case run(User, String)
        /// Waits until a condition holds.
        case until(User, String)
        /// Draws a line over the middle of the page with the mouse.
        case draw(User)
        case close(User)
        /// The page is in the state of this name. Before each look, other steps bring back what fades.
        case look(User, String, after: [Step] = [])
    }

    /// Plays the story in a room that nobody has changed yet. `look` is called in each state, with the page in front,
    /// the state's name, and a function that it calls whenever it has changed the page's size or is about to look.
    ///
    /// - Throws: ``StepFailed``, what `look` throws, or `BrowserError`.
    public func play(
        _ links: Links, in language: Language, of browser: Browser,
        look: (_ page: Page, _ state: String, _ prepare: () throws -> Void) throws -> Void
    ) throws {
        var stage = PageStage(links: links, language: language, browser: browser)
        defer { stage.close() }
        for step in steps {
            guard case .look(let user, let state, let preparation) = step else {
                do {
                    try stage.carryOut(step)
                } catch {
                    throw StepFailed(story: name, reason: error)
                }
                continue
            }
            let page = try stage.page(of: user)
            try page.send("Page.bringToFront")
            try look(page, state) {
                for step in preparation { try stage.carryOut(step) }
                // The bar hides by itself, and a pointer movement shows it again.
                try page.evaluate("document.dispatchEvent(new PointerEvent('pointermove'))")
            }
            try PageScreen.wide.set(on: page, isDark: false)
        }
    }
}

/// A step of a story didn't succeed.
public struct StepFailed: Error, CustomStringConvertible {
    let story: String
    let reason: BrowserError

    /// The story, and the reason.
    public var description: String { "the story '\(story)': \(reason)" }
}

/// The open pages of a story.
private struct PageStage {
    let links: PageStory.Links
    let language: PageStory.Language
    let browser: Browser
    private var pages: [PageStory.User: Page] = [:]

    init(links: PageStory.Links, language: PageStory.Language, browser: Browser) {
        self.links = links
        self.language = language
        self.browser = browser
    }

    func page(of user: PageStory.User) throws(BrowserError) -> Page {
        guard let page = pages[user] else { throw .deadlineMissed("\(user.rawValue) has no page") }
        return page
    }

    mutating func carryOut(_ step: PageStory.Step) throws(BrowserError) {
        switch step {
        case .open(let user, let link, let isNamed, let script, let condition):
            pages[user]?.close()
            let page = try open(address(of: link), name: isNamed ? user.rawValue : nil, script: script)
            pages[user] = page
            try page.waitUntil("Boolean(window.screenRelay && (\(condition)))", within: .seconds(30))
        case .run(let user, let script): try page(of: user).evaluate("(() => { \(script) })()")
        case .until(let user, let condition): try page(of: user).waitUntil(condition, within: .seconds(30))
        case .draw(let user): try drawLine(on: page(of: user))
        case .close(let user): pages.removeValue(forKey: user)?.close()
        case .look: break
        }
    }

    mutating func close() {
        for page in pages.values { page.close() }
        pages.removeAll()
    }

    private func address(of link: PageStory.Link) -> String {
        let full = link == .presenter ? links.presenter : links.viewer
        let parts = full.split(separator: "#", maxSplits: 1)
        let page = "\(parts.first ?? "")?lang=\(language.rawValue)"
        let room = parts.last ?? ""
        return switch link {
        case .viewer, .presenter: "\(page)#\(room)"
        case .wrong: "\(page)#\(room.prefix { $0 != "," }),WRONG"
        case .bare: page
        }
    }

    private func open(_ address: String, name: String?, script: String) throws(BrowserError) -> Page {
        let page = try browser.newPage()
        // All pages of the browser share this storage; the page reads it once.
        let naming = name.map { "localStorage.setItem('screenrelay.name', '\($0)')" }
        try page.runBeforeLoad("try { \(naming ?? "localStorage.removeItem('screenrelay.name')"); } catch {}" + script)
        try PageScreen.wide.set(on: page, isDark: false)
        try page.navigate(address)
        return page
    }

    private func drawLine(on page: Page) throws(BrowserError) {
        let size = try page.evaluate("({ width: innerWidth, height: innerHeight })")
        let (width, height) = (size["width"].number ?? 0, size["height"].number ?? 0)
        let moves: [(type: String, x: Double, y: Double)] = [
            ("mousePressed", 0.3, 0.45), ("mouseMoved", 0.5, 0.55), ("mouseMoved", 0.7, 0.5),
            ("mouseReleased", 0.7, 0.5),
        ]
        for (type, x, y) in moves {
            try page.send(
                "Input.dispatchMouseEvent",
                [
                    "type": .string(type), "x": .number(x * width), "y": .number(y * height), "button": "left",
                    "buttons": type == "mouseReleased" ? 0 : 1, "clickCount": 1,
                ])
        }
    }
}
