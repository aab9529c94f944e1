import FoundationEssentials

/// One page of a browser.
///
/// Use it from one thread at a time; every call has a deadline.
public final class Page {
    /// A message that the page or the browser wrote to the page's console.
    public struct ConsoleMessage: Equatable, Sendable, CustomStringConvertible {
        /// "error", "info", "debug", or another word of the browser; an uncaught exception is an "error".
        public let level: String
        /// The text of the message.
        public let text: String
        /// The file that it comes from, if that is known.
        public let url: String

        public var description: String { url.isEmpty ? "\(level): \(text)" : "\(level): \(text) (\(url))" }
    }

    /// The messages on the console so far, the oldest first; at most the first 1000. Calls to the page bring in new
    /// ones.
    public private(set) var consoleMessages: [ConsoleMessage] = []
    /// The errors among them: console.error, uncaught exceptions, resources that could not be loaded.
    public var consoleErrors: [ConsoleMessage] { consoleMessages.filter { $0.level == "error" } }

    /// Whether the browser takes what is evaluated for something that a user has done, as a click is. That lets a page
    /// play sound, for one.
    public var actsAsUser = true

    private let browser: Browser
    private let commands: any PageCommands
    private var isClosed = false

    init(browser: Browser, commands: any PageCommands) {
        self.browser = browser
        self.commands = commands
    }

    deinit { close() }

    /// Loads another document, and returns when it has fired its load event. Throws `notLoaded`, or `deadlineMissed`.
    public func navigate(_ url: String, within limit: Duration = .seconds(90)) throws(BrowserError) {
        try navigate(url, until: ContinuousClock.now + limit)
    }

    func navigate(_ url: String, until deadline: ContinuousClock.Instant) throws(BrowserError) {
        try commands.navigate(url, until: deadline)
    }

    /// Has `script` run in each document that is loaded from now on, before the document's own scripts. Throws the
    /// errors of ``send(_:_:within:)``.
    public func runBeforeLoad(_ script: String, within limit: Duration = .seconds(60)) throws(BrowserError) {
        try commands.runBeforeLoad(script, until: ContinuousClock.now + limit)
    }

    /// Evaluates a JavaScript expression and returns its value as JSON; waits for a promise. `undefined` is null.
    /// Throws `thrown` with what JavaScript throws, or the errors of ``send(_:_:within:)``.
    @discardableResult
    public func evaluate(_ expression: String, within limit: Duration = .seconds(60)) throws(BrowserError) -> JSONValue
    {
        try commands.evaluate(expression, isUser: actsAsUser, until: ContinuousClock.now + limit)
    }

    /// Polls a JavaScript expression until it is truthy, and returns its value. Throws `deadlineMissed`, or `thrown`
    /// with what JavaScript throws.
    @discardableResult
    public func waitUntil(_ condition: String, within limit: Duration = .seconds(90)) throws(BrowserError) -> JSONValue
    {
        let deadline = ContinuousClock.now + limit
        while true {
            do {
                let value = try evaluate(condition, within: max(deadline - ContinuousClock.now, .seconds(1)))
                if value.isTruthy { return value }
            } catch {
                // While one document replaces another, there is no context that could evaluate the expression.
                guard case .refused = error, ContinuousClock.now < deadline else { throw error }
            }
            if ContinuousClock.now >= deadline { throw .deadlineMissed("'\(condition)' did not become true") }
            try settle(for: .milliseconds(40))
        }
    }

    /// Handles events for this long, so that console messages arrive while nothing is asked of the page. Throws `gone`
    /// if the browser has ended.
    public func settle(for time: Duration) throws(BrowserError) {
        _ = try browser.pump(until: ContinuousClock.now + time, isDone: { false })
    }

    /// Takes a screenshot of the visible part of the page, as a PNG file. Throws the errors of ``send(_:_:within:)``.
    public func screenshot(within limit: Duration = .seconds(90)) throws(BrowserError) -> [UInt8] {
        let text = try commands.screenshot(until: ContinuousClock.now + limit)
        guard let text, let data = Data(base64Encoded: text) else {
            throw .unexpectedAnswer("a screenshot without a picture")
        }
        return [UInt8](data)
    }

    /// Sets the size of the page's window in CSS pixels. Throws the errors of ``send(_:_:within:)``.
    public func setViewport(width: Int, height: Int, within limit: Duration = .seconds(60)) throws(BrowserError) {
        try commands.setViewport(width: width, height: height, until: ContinuousClock.now + limit)
    }

    /// Carries out any command of the browser's protocol: of DevTools in this page, of WebDriver BiDi as it is. Throws
    /// `refused` with the browser's reason, `deadlineMissed`, or `gone` if the browser has ended.
    @discardableResult
    public func send(
        _ method: String, _ parameters: JSONValue = [:], within limit: Duration = .seconds(60)
    ) throws(BrowserError) -> JSONValue {
        try commands.call(method, parameters, until: ContinuousClock.now + limit)
    }

    /// Closes the page. Idempotent.
    public func close() {
        if isClosed { return }
        isClosed = true
        browser.closePage(commands)
    }

    /// Handles an event of this page.
    func receive(_ method: String, _ parameters: JSONValue) {
        guard let message = commands.receive(method, parameters), consoleMessages.count < 1000 else { return }
        consoleMessages.append(message)
    }
}
