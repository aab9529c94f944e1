import FoundationEssentials
import Glibc
import Synchronization

/// A headless browser, controlled through the DevTools protocol over pipes, or through WebDriver BiDi over a WebSocket:
/// a process with a profile of its own, or a context of its own (cookies, storage, permissions) in a shared process.
///
/// Use it from one thread at a time; every call has a deadline. When the last reference to the browser and its pages
/// goes, the browser ends and its profile is removed.
public final class Browser {
    private let process: BrowserProcess
    /// Its context in a shared process; nil if the process is its own.
    private let context: JSONValue?
    private var isClosed = false

    /// Whether a Chromium is installed.
    public static var isAvailable: Bool { Kind.chromium.isAvailable }

    /// Processes of Chromium that nobody uses at the moment.
    private static let idle = Mutex<[BrowserProcess]>([])
    private static let endsIdle: Void = {
        _ = atexit { for process in Browser.idle.withLock({ $0 }) { process.close() } }
    }()

    /// Starts a browser, with `extraFlags` added to its command line. It answers before this returns.
    ///
    /// `prefix` is a command that runs the browser: `["nsenter", "--target", "7", "--net", "--"]` starts a Chromium in
    /// another network namespace. Firefox must stay in ours.
    ///
    /// - Throws: `notInstalled`, `notStarted`, `gone` if it ends at once, or `deadlineMissed` if it doesn't answer
    ///   within `limit`.
    public static func launch(
        _ kind: Kind = .chromium, extraFlags: [String] = [], prefix: [String] = [],
        within limit: Duration = .seconds(90)
    ) throws(BrowserError) -> Browser {
        Browser(try BrowserProcess(kind, extraFlags, prefix, until: ContinuousClock.now + limit), context: nil)
    }

    /// A Chromium for a test that needs only pages, and that neither ends its process nor has flags of its own. The
    /// process may have served others of this program before, one after another, and serves again: starting one takes
    /// more than a second of CPU time. Throws the errors of ``launch(_:extraFlags:prefix:within:)``.
    public static func shared(within limit: Duration = .seconds(90)) throws(BrowserError) -> Browser {
        let deadline = ContinuousClock.now + limit
        _ = endsIdle
        while let process = idle.withLock({ $0.popLast() }) {
            if let context = try? process.newContext(until: deadline) { return Browser(process, context: context) }
            process.close()
        }
        let process = try BrowserProcess(.chromium, [], [], until: deadline)
        return Browser(process, context: try process.newContext(until: deadline))
    }

    private init(_ process: BrowserProcess, context: JSONValue?) {
        self.process = process
        self.context = context
    }

    deinit { close() }

    /// Opens `url` in a new page, and returns when the page has fired its load event.
    ///
    /// - Throws: `notLoaded` if the page can't be loaded, `deadlineMissed`, or `gone` if the browser has ended.
    public func newPage(_ url: String = "about:blank", within limit: Duration = .seconds(90)) throws(BrowserError)
        -> Page
    {
        let deadline = ContinuousClock.now + limit
        let commands: any PageCommands
        switch process.kind {
        case .chromium: commands = try DevToolsPage(in: process, context: context, until: deadline)
        case .firefox: commands = try BiDiPage(in: process, until: deadline)
        }
        let page = Page(browser: self, commands: commands)
        process.deliver(to: page, id: commands.id)
        if url != "about:blank" { try page.navigate(url, until: deadline) }
        return page
    }

    /// Ends the browser and all processes that it started, and removes its profile; of a shared process, it ends the
    /// context with its pages. Idempotent.
    public func close() {
        if isClosed { return }
        isClosed = true
        guard let context else { return process.close() }
        if process.dispose(context) { Self.idle.withLock { $0.append(process) } } else { process.close() }
    }

    /// Kills the browser and all processes that it started, without any goodbye, as a power failure would. Only `close`
    /// may follow.
    public func kill() { process.kill() }

    /// Delivers events until `deadline` or until `isDone` returns true; returns false if it never did.
    func pump(until deadline: ContinuousClock.Instant, isDone: () -> Bool) throws(BrowserError) -> Bool {
        try process.pump(until: deadline, isDone: isDone)
    }

    /// Closes one page.
    func closePage(_ commands: any PageCommands) {
        process.deliver(to: nil, id: commands.id)
        if isClosed { return }
        try? commands.close(until: ContinuousClock.now + .seconds(5))
    }
}
