/// A page of Chromium: a session of the DevTools protocol.
final class DevToolsPage: PageCommands {
    /// The session.
    let id: String
    private let browser: BrowserProcess
    private let target: String
    private var loads = 0

    /// Opens an empty page, in this context if one is given. Throws the errors of `BrowserProcess.call`.
    init(
        in browser: BrowserProcess, context: JSONValue?, until deadline: ContinuousClock.Instant
    ) throws(BrowserError) {
        var wanted: [String: JSONValue] = ["url": "about:blank"]
        wanted["browserContextId"] = context
        let target = try browser.call("Target.createTarget", .object(wanted), until: deadline)["targetId"]
        let attached = try browser.call(
            "Target.attachToTarget", ["targetId": target, "flatten": true], until: deadline)
        guard let session = attached["sessionId"].string, let targetID = target.string else {
            throw .unexpectedAnswer("a page without a session")
        }
        self.browser = browser
        self.target = targetID
        id = session
        for domain in ["Page", "Runtime", "Log"] { _ = try call("\(domain).enable", [:], until: deadline) }
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

    func evaluate(
        _ expression: String, isUser: Bool, until deadline: ContinuousClock.Instant
    ) throws(BrowserError) -> JSONValue {
        let result = try call(
            "Runtime.evaluate",
            [
                "expression": .string(expression), "awaitPromise": true, "returnByValue": true,
                "userGesture": .bool(isUser),
            ], until: deadline)
        let exception = result["exceptionDetails"]
        if !exception.isNull { throw .thrown(Self.text(of: exception)) }
        return result["result"]["value"]
    }

    func runBeforeLoad(_ script: String, until deadline: ContinuousClock.Instant) throws(BrowserError) {
        _ = try call("Page.addScriptToEvaluateOnNewDocument", ["source": .string(script)], until: deadline)
    }

    func setViewport(width: Int, height: Int, until deadline: ContinuousClock.Instant) throws(BrowserError) {
        _ = try call(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .number(Double(width)), "height": .number(Double(height)), "deviceScaleFactor": 1,
                "mobile": false,
            ], until: deadline)
    }

    func screenshot(until deadline: ContinuousClock.Instant) throws(BrowserError) -> String? {
        try call("Page.captureScreenshot", ["format": "png"], until: deadline)["data"].string
    }

    func call(
        _ method: String, _ parameters: JSONValue, until deadline: ContinuousClock.Instant
    ) throws(BrowserError) -> JSONValue {
        try browser.call(method, parameters, session: id, until: deadline)
    }

    func receive(_ method: String, _ parameters: JSONValue) -> Page.ConsoleMessage? {
        switch method {
        case "Page.loadEventFired":
            loads += 1
            return nil
        case "Runtime.consoleAPICalled":
            let parts = (parameters["args"].array ?? []).map(Self.text(ofArgument:))
            let type = parameters["type"].string ?? "log"
            return Page.ConsoleMessage(
                level: type == "assert" ? "error" : type, text: parts.joined(separator: " "),
                url: parameters["stackTrace"]["callFrames"][0]["url"].string ?? "")
        case "Runtime.exceptionThrown":
            let details = parameters["exceptionDetails"]
            return Page.ConsoleMessage(level: "error", text: Self.text(of: details), url: details["url"].string ?? "")
        case "Log.entryAdded":
            let entry = parameters["entry"]
            return Page.ConsoleMessage(
                level: entry["level"].string ?? "info", text: entry["text"].string ?? "",
                url: entry["url"].string ?? "")
        default:
            return nil
        }
    }

    func close(until deadline: ContinuousClock.Instant) throws(BrowserError) {
        _ = try browser.call("Target.closeTarget", ["targetId": .string(target)], until: deadline)
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
