import FoundationEssentials
import Glibc
import Processes

/// A headless Chromium with a profile of its own, controlled through the DevTools protocol over pipes.
///
/// Use it from one thread at a time; every call has a deadline. When the last reference to the browser and its pages
/// goes, the browser ends and its profile is removed.
public final class Browser {
    private let process: ChildProcess
    private let pipe: DevToolsPipe
    private let profile: URL
    private var lastID = 0
    private var pages: [String: WeakPage] = [:]
    private var isClosed = false

    private struct WeakPage {
        weak var page: Page?
    }

    /// The programs to try, starting with the one that CHROMIUM names.
    private static var candidates: [String] {
        let named = ProcessInfo.processInfo.environment["CHROMIUM"].map { [$0] } ?? []
        return named + ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
    }

    /// Whether a browser is installed.
    public static var isAvailable: Bool { candidates.contains { ProgramLookup.path(of: $0) != nil } }

    /// Starts a browser, with `extraFlags` added to its command line. It answers before this returns.
    ///
    /// `prefix` is a command that runs the browser: `["nsenter", "--target", "7", "--net", "--"]` starts it in another
    /// network namespace.
    ///
    /// - Throws: `notInstalled`, `notStarted`, or `deadlineMissed` if it doesn't answer within `limit`.
    public static func launch(
        extraFlags: [String] = [], prefix: [String] = [], within limit: Duration = .seconds(90)
    ) throws(BrowserError) -> Browser {
        try Browser(extraFlags, prefix, until: ContinuousClock.now + limit)
    }

    private init(
        _ extraFlags: [String], _ prefix: [String], until deadline: ContinuousClock.Instant
    ) throws(BrowserError) {
        guard let program = Self.candidates.lazy.compactMap(ProgramLookup.path).first else {
            throw .notInstalled(tried: Self.candidates)
        }
        let pipe = try DevToolsPipe()
        let profile = FileManager.default.temporaryDirectory.appending(path: "screenrelay-browser-\(UUID().uuidString)")
        let words = prefix + [program] + Self.flags(profile: profile.path) + extraFlags + ["about:blank"]
        var launch = Launch(words[0], Array(words.dropFirst()))
        launch.descriptors = [3: pipe.browsersEnds.reading, 4: pipe.browsersEnds.writing]
        launch.standardOutput = .null
        launch.standardError = .text(limit: 256 * 1024)
        launch.leadsProcessGroup = true
        do {
            process = try ChildProcess(launch)
        } catch {
            throw .notStarted(error.description)
        }
        self.pipe = pipe
        self.profile = profile
        pipe.closeBrowsersEnds()
        _ = try call("Browser.getVersion", until: deadline)
    }

    deinit { close() }

    private static func flags(profile: String) -> [String] {
        var flags = [
            "--headless=new", "--remote-debugging-pipe", "--user-data-dir=\(profile)", "--disable-gpu", "--mute-audio",
            "--autoplay-policy=no-user-gesture-required", "--no-first-run", "--no-default-browser-check",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
            "--disable-breakpad", "--disable-dev-shm-usage", "--disable-background-timer-throttling",
            "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding", "--password-store=basic",
            "--window-size=1280,800",
        ]
        // Chromium's sandbox refuses to work for root, which tests in containers run as.
        if geteuid() == 0 { flags.append("--no-sandbox") }
        return flags
    }

    /// Opens `url` in a new page, and returns when the page has fired its load event.
    ///
    /// - Throws: `notLoaded` if the page can't be loaded, `deadlineMissed`, or `gone` if the browser has ended.
    public func newPage(_ url: String = "about:blank", within limit: Duration = .seconds(90)) throws(BrowserError)
        -> Page
    {
        let deadline = ContinuousClock.now + limit
        let target = try call("Target.createTarget", ["url": "about:blank"], until: deadline)["targetId"]
        let attached = try call("Target.attachToTarget", ["targetId": target, "flatten": true], until: deadline)
        guard let session = attached["sessionId"].string, let targetID = target.string else {
            throw .unexpectedAnswer("a page without a session")
        }
        let page = Page(browser: self, target: targetID, session: session)
        pages[session] = WeakPage(page: page)
        for domain in ["Page", "Runtime", "Log"] {
            _ = try call("\(domain).enable", session: session, until: deadline)
        }
        if url != "about:blank" { try page.navigate(url, until: deadline) }
        return page
    }

    /// Ends the browser and all processes that it started, and removes its profile. Idempotent.
    public func close() {
        if isClosed { return }
        isClosed = true
        // Ask first, so that the browser's own children end in good order too.
        _ = try? call("Browser.close", until: ContinuousClock.now + .seconds(2))
        if process.wait(within: .seconds(3)) == nil { process.stop(within: .seconds(1)) }
        try? FileManager.default.removeItem(at: profile)
    }

    /// Kills the browser and all processes that it started, without any goodbye, as a power failure would. Only `close`
    /// may follow.
    public func kill() {
        process.terminate(SIGKILL)
        _ = process.wait(within: .seconds(3))
    }

    /// Carries out one DevTools command (of a page, if `session` is given) and returns its result.
    func call(
        _ method: String, _ parameters: JSONValue = [:], session: String? = nil,
        until deadline: ContinuousClock.Instant
    ) throws(BrowserError) -> JSONValue {
        lastID += 1
        let id = lastID
        var message: [String: JSONValue] = [
            "id": .number(Double(id)), "method": .string(method), "params": parameters,
        ]
        if let session { message["sessionId"] = .string(session) }
        do throws(BrowserError) {
            try pipe.send(.object(message), until: deadline)
            while let answer = try pipe.receive(until: deadline) {
                guard answer["id"].int == id else {
                    deliver(answer)
                    continue
                }
                if let reason = answer["error"]["message"].string { throw .refused(method: method, reason: reason) }
                return answer["result"]
            }
        } catch .gone {
            throw .gone(lastWords)
        }
        throw .deadlineMissed(method)
    }

    /// Delivers events until `deadline` or until `isDone` returns true; returns false if it never did.
    func pump(until deadline: ContinuousClock.Instant, isDone: () -> Bool) throws(BrowserError) -> Bool {
        do throws(BrowserError) {
            while !isDone() {
                guard let message = try pipe.receive(until: deadline) else { return isDone() }
                deliver(message)
            }
            return true
        } catch .gone {
            throw .gone(lastWords)
        }
    }

    /// Closes one page.
    func closePage(target: String, session: String) {
        pages[session] = nil
        if isClosed { return }
        _ = try? call("Target.closeTarget", ["targetId": .string(target)], until: ContinuousClock.now + .seconds(5))
    }

    private func deliver(_ message: JSONValue) {
        guard let method = message["method"].string, let session = message["sessionId"].string else { return }
        pages[session]?.page?.receive(method, message["params"])
    }

    /// The last lines of the browser's standard error.
    private var lastWords: String {
        _ = process.wait(within: .milliseconds(500))
        let lines = (process.errorOutput?.text ?? "").split(separator: "\n")
        return ([process.poll()?.description].compactMap { $0 } + lines.suffix(3).map(String.init))
            .joined(separator: "; ")
    }
}
