/// A page of Firefox: a browsing context of WebDriver BiDi (https://w3c.github.io/webdriver-bidi/).
final class BiDiPage: PageCommands {
    /// The browsing context.
    let id: String
    private let browser: BrowserProcess

    /// Opens an empty page. Throws the errors of `Browser.call`.
    init(in browser: BrowserProcess, until deadline: ContinuousClock.Instant) throws(BrowserError) {
        let made = try browser.call("browsingContext.create", ["type": "tab"], until: deadline)
        guard let context = made["context"].string else { throw .unexpectedAnswer("a page without a context") }
        self.browser = browser
        id = context
    }

    func navigate(_ url: String, until deadline: ContinuousClock.Instant) throws(BrowserError) {
        do throws(BrowserError) {
            _ = try call(
                "browsingContext.navigate", ["context": .string(id), "url": .string(url), "wait": "complete"],
                until: deadline)
        } catch .refused(_, let reason) {
            throw .notLoaded(url: url, reason: reason)
        }
    }

    func evaluate(
        _ expression: String, isUser: Bool, until deadline: ContinuousClock.Instant
    ) throws(BrowserError) -> JSONValue {
        let result = try call(
            "script.evaluate",
            [
                "expression": .string(expression), "target": ["context": .string(id)], "awaitPromise": true,
                "userActivation": .bool(isUser),
            ], until: deadline)
        let exception = result["exceptionDetails"]
        if !exception.isNull { throw .thrown(exception["text"].string ?? "an exception") }
        return Self.json(of: result["result"])
    }

    func runBeforeLoad(_ script: String, until deadline: ContinuousClock.Instant) throws(BrowserError) {
        _ = try call(
            "script.addPreloadScript",
            ["functionDeclaration": .string("() => {\n\(script)\n}"), "contexts": [.string(id)]], until: deadline)
    }

    func setViewport(width: Int, height: Int, until deadline: ContinuousClock.Instant) throws(BrowserError) {
        _ = try call(
            "browsingContext.setViewport",
            [
                "context": .string(id),
                "viewport": ["width": .number(Double(width)), "height": .number(Double(height))],
            ], until: deadline)
    }

    func screenshot(until deadline: ContinuousClock.Instant) throws(BrowserError) -> String? {
        try call("browsingContext.captureScreenshot", ["context": .string(id)], until: deadline)["data"].string
    }

    func call(
        _ method: String, _ parameters: JSONValue, until deadline: ContinuousClock.Instant
    ) throws(BrowserError) -> JSONValue {
        try browser.call(method, parameters, until: deadline)
    }

    func receive(_ method: String, _ parameters: JSONValue) -> Page.ConsoleMessage? {
        guard method == "log.entryAdded" else { return nil }
        return Page.ConsoleMessage(
            level: parameters["level"].string ?? "info", text: parameters["text"].string ?? "",
            url: parameters["stackTrace"]["callFrames"][0]["url"].string ?? "")
    }

    func close(until deadline: ContinuousClock.Instant) throws(BrowserError) {
        _ = try call("browsingContext.close", ["context": .string(id)], until: deadline)
    }

    /// The JSON of a value of the page, which the protocol describes with its type. Members of an object are pairs.
    private static func json(of described: JSONValue) -> JSONValue {
        let value = described["value"]
        switch described["type"].string {
        case "string", "boolean":
            return value
        case "number":
            // NaN and infinity are strings.
            return value.number.map { JSONValue.number($0) } ?? .null
        case "array":
            return .array((value.array ?? []).map(json(of:)))
        case "object":
            var members: [String: JSONValue] = [:]
            for pair in value.array ?? [] {
                if let name = pair[0].string { members[name] = json(of: pair[1]) }
            }
            return .object(members)
        default:
            return .null
        }
    }
}
