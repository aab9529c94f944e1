import FoundationEssentials
import Glibc
import Processes

/// The process of a browser, and the channel to it.
///
/// One thread at a time; ``Browser/shared(within:)`` hands one over under a lock.
final class BrowserProcess: @unchecked Sendable {
    let kind: Browser.Kind
    private let process: ChildProcess
    private let profile: URL
    private var channel: (any MessageChannel)?
    private var lastID = 0
    private var pages: [String: WeakPage] = [:]
    private var isClosed = false

    private struct WeakPage {
        weak var page: Page?
    }

    /// Starts a browser; the errors are those of ``Browser/launch(_:extraFlags:prefix:within:)``.
    init(
        _ kind: Browser.Kind, _ extraFlags: [String], _ prefix: [String], until deadline: ContinuousClock.Instant
    ) throws(BrowserError) {
        guard let program = kind.program else { throw .notInstalled(kind) }
        let pipe: DevToolsPipe? = try kind == .chromium ? DevToolsPipe() : nil
        let profile = FileManager.default.temporaryDirectory.appending(path: "screenrelay-browser-\(UUID().uuidString)")
        let words = prefix + [program] + kind.flags(profile: profile.path) + extraFlags + ["about:blank"]
        var launch = Launch(words[0], Array(words.dropFirst()))
        launch.environment = kind.environment(profile: profile.path)
        if let pipe { launch.descriptors = [3: pipe.browsersEnds.reading, 4: pipe.browsersEnds.writing] }
        launch.standardOutput = .null
        launch.standardError = .text(limit: 256 * 1024)
        launch.leadsProcessGroup = true
        do {
            process = try ChildProcess(launch)
        } catch {
            throw .notStarted(error.description)
        }
        self.kind = kind
        self.profile = profile
        if let pipe {
            pipe.closeBrowsersEnds()
            channel = pipe
            _ = try call("Browser.getVersion", until: deadline)
        } else {
            channel = try BiDiSocket(port: listeningPort(until: deadline), until: deadline)
            let wanted: JSONValue = ["alwaysMatch": ["acceptInsecureCerts": true]]
            _ = try call("session.new", ["capabilities": wanted], until: deadline)
            _ = try call("session.subscribe", ["events": ["log.entryAdded"]], until: deadline)
        }
    }

    deinit { close() }

    /// The port on which Firefox says that it listens.
    private func listeningPort(until deadline: ContinuousClock.Instant) throws(BrowserError) -> UInt16 {
        let mark = "WebDriver BiDi listening on ws://127.0.0.1:"
        while ContinuousClock.now < deadline {
            // The last piece has no line feed yet.
            let lines = (process.errorOutput?.text ?? "").split(separator: "\n", omittingEmptySubsequences: false)
            for line in lines.dropLast() where line.hasPrefix(mark) {
                if let port = UInt16(line.dropFirst(mark.count)) { return port }
            }
            if process.wait(within: .milliseconds(20)) != nil { throw .gone(lastWords) }
        }
        throw .deadlineMissed("starting to listen")
    }

    /// Opens a context: cookies, storage and permissions of its own.
    func newContext(until deadline: ContinuousClock.Instant) throws(BrowserError) -> JSONValue {
        try call("Target.createBrowserContext", until: deadline)["browserContextId"]
    }

    /// Ends a context with all its pages. Returns false if the browser doesn't answer.
    func dispose(_ context: JSONValue) -> Bool {
        let deadline = ContinuousClock.now + .seconds(5)
        return (try? call("Target.disposeBrowserContext", ["browserContextId": context], until: deadline)) != nil
    }

    /// Delivers the events of the session or context `id` to this page; to none if it is nil.
    func deliver(to page: Page?, id: String) { pages[id] = page.map { WeakPage(page: $0) } }

    /// Ends the browser and all processes that it started, and removes its profile. Idempotent.
    func close() {
        if isClosed { return }
        isClosed = true
        // Ask first, so that the browser's own children end in good order too.
        _ = try? call(kind == .chromium ? "Browser.close" : "browser.close", until: ContinuousClock.now + .seconds(2))
        if process.wait(within: .seconds(3)) == nil { process.stop(within: .seconds(1)) }
        try? FileManager.default.removeItem(at: profile)
    }

    /// Kills the browser and all processes that it started, without any goodbye, as a power failure would. Only `close`
    /// may follow.
    func kill() {
        process.terminate(SIGKILL)
        _ = process.wait(within: .seconds(3))
    }

    /// Carries out one command of the protocol (of a session of DevTools, if one is given) and returns its result.
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
            try send(.object(message), until: deadline)
            while let answer = try receive(until: deadline) {
                guard answer["id"].int == id else {
                    deliver(answer)
                    continue
                }
                // WebDriver BiDi has the message beside the error, and not in it.
                if let reason = answer["error"]["message"].string ?? answer["message"].string {
                    throw .refused(method: method, reason: reason)
                }
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
                guard let message = try receive(until: deadline) else { return isDone() }
                deliver(message)
            }
            return true
        } catch .gone {
            throw .gone(lastWords)
        }
    }

    private func send(_ message: JSONValue, until deadline: ContinuousClock.Instant) throws(BrowserError) {
        guard let channel else { throw .gone("") }
        guard let encoded = try? JSONEncoder().encode(message) else { throw .unexpectedAnswer("unsendable message") }
        try channel.send([UInt8](encoded), until: deadline)
    }

    private func receive(until deadline: ContinuousClock.Instant) throws(BrowserError) -> JSONValue? {
        guard let channel, let message = try channel.receive(until: deadline) else { return nil }
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(message)) else {
            throw .unexpectedAnswer("not JSON: \(String(decoding: message.prefix(200), as: UTF8.self))")
        }
        return value
    }

    private func deliver(_ message: JSONValue) {
        guard let method = message["method"].string else { return }
        let parameters = message["params"]
        guard let page = message["sessionId"].string ?? parameters["source"]["context"].string else { return }
        pages[page]?.page?.receive(method, parameters)
    }

    /// The last lines of the browser's standard error.
    private var lastWords: String {
        _ = process.wait(within: .milliseconds(500))
        let lines = (process.errorOutput?.text ?? "").split(separator: "\n")
        return ([process.poll()?.description].compactMap { $0 } + lines.suffix(3).map(String.init))
            .joined(separator: "; ")
    }
}
