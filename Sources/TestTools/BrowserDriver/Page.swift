import FoundationEssentials

/// One page of a browser.
///
/// Use it from one thread at a time; every call has a deadline.
public final class Page {
    /// A message that the page or the browser wrote to the page's console.
    public struct ConsoleMessage: Equatable, Sendable, CustomStringConvertible {
        /// "error", "warning", "info", "log", "debug" …; an uncaught exception is an "error".
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
    private let target: String
    private let session: String
    private var loads = 0
    private var isClosed = false

    init(browser: Browser, target: String, session: String) {
        self.browser = browser
        self.target = target
        self.session = session
    }

    deinit { close() }

    /// Loads another document, and returns when it has fired its load event. Throws `notLoaded`, or `deadlineMissed`.
    public func navigate(_ url: String, within limit: Duration = .seconds(90)) throws(BrowserError) {
        try navigate(url, until: ContinuousClock.now + limit)
    }

    func navigate(_ url: String, until deadline: ContinuousClock.Instant) throws(BrowserError) {
        let before = loads
        let result = try call("Page.navigate", ["url": .string(url)], until: deadline)
        if let reason = result["errorText"].string, !reason.isEmpty { throw .notLoaded(url: url, reason: reason) }
        // Without a new loader, the document stayed (only the fragment changed), and nothing will load.
        if result["loaderId"].isNull { return }
        guard try browser.pump(until: deadline, isDone: { loads > before }) else {
            throw .deadlineMissed("loading \(url)")
        }
    }

    /// Evaluates a JavaScript expression and returns its value as JSON; waits for a promise. `undefined` is null.
    /// Throws `thrown` with what JavaScript throws, or the errors of ``send(_:_:within:)``.
    @discardableResult
    public func evaluate(_ expression: String, within limit: Duration = .seconds(10)) throws(BrowserError) -> JSONValue
    {
        let result = try call(
            "Runtime.evaluate",
            [
                "expression": .string(expression), "awaitPromise": true, "returnByValue": true,
                "userGesture": .bool(actsAsUser),
            ], until: ContinuousClock.now + limit)
        let exception = result["exceptionDetails"]
        if !exception.isNull { throw .thrown(Self.text(of: exception)) }
        return result["result"]["value"]
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
        let result = try call(
            "Page.captureScreenshot", ["format": "png"], until: ContinuousClock.now + limit)
        guard let text = result["data"].string, let data = Data(base64Encoded: text) else {
            throw .unexpectedAnswer("a screenshot without a picture")
        }
        return [UInt8](data)
    }

    /// Sets the size of the page's window in CSS pixels. Throws the errors of ``send(_:_:within:)``.
    public func setViewport(width: Int, height: Int) throws(BrowserError) {
        try send(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .number(Double(width)), "height": .number(Double(height)), "deviceScaleFactor": 1,
                "mobile": false,
            ])
    }

    /// Carries out any command of the DevTools protocol in this page. Throws `refused` with the browser's reason,
    /// `deadlineMissed`, or `gone` if the browser has ended.
    @discardableResult
    public func send(
        _ method: String, _ parameters: JSONValue = [:], within limit: Duration = .seconds(10)
    ) throws(BrowserError) -> JSONValue {
        try call(method, parameters, until: ContinuousClock.now + limit)
    }

    /// Closes the page. Idempotent.
    public func close() {
        if isClosed { return }
        isClosed = true
        browser.closePage(target: target, session: session)
    }

    private func call(
        _ method: String, _ parameters: JSONValue, until deadline: ContinuousClock.Instant
    ) throws(BrowserError) -> JSONValue {
        try browser.call(method, parameters, session: session, until: deadline)
    }

    /// Handles an event of this page.
    func receive(_ method: String, _ parameters: JSONValue) {
        switch method {
        case "Page.loadEventFired":
            loads += 1
        case "Runtime.consoleAPICalled":
            let parts = (parameters["args"].array ?? []).map(Self.text(ofArgument:))
            let type = parameters["type"].string ?? "log"
            note(
                type == "assert" ? "error" : type, parts.joined(separator: " "),
                parameters["stackTrace"]["callFrames"][0]["url"].string)
        case "Runtime.exceptionThrown":
            let details = parameters["exceptionDetails"]
            note("error", Self.text(of: details), details["url"].string)
        case "Log.entryAdded":
            let entry = parameters["entry"]
            note(entry["level"].string ?? "info", entry["text"].string ?? "", entry["url"].string)
        default:
            break
        }
    }

    private func note(_ level: String, _ text: String, _ url: String?) {
        guard consoleMessages.count < 1000 else { return }
        consoleMessages.append(ConsoleMessage(level: level, text: text, url: url ?? ""))
    }

    private static func text(of exception: JSONValue) -> String {
        exception["exception"]["description"].string ?? exception["exception"]["value"].string
            ?? exception["text"].string ?? "an exception"
    }

    private static func text(ofArgument argument: JSONValue) -> String {
        switch argument["value"] {
        case .string(let text): text
        case .number(let number): Int(exactly: number).map(String.init) ?? String(number)
        case .bool(let value): String(value)
        case .null, .array, .object: argument["description"].string ?? argument["type"].string ?? ""
        }
    }
}
