/// What a page can do, in the words of its browser's protocol. Each function throws the errors of
/// `BrowserProcess.call`.
///
/// Use it from one thread at a time.
protocol PageCommands {
    /// The identifier of the page in its browser's events.
    var id: String { get }

    /// Loads another document, and returns when it has fired its load event. Throws also `notLoaded`.
    func navigate(_ url: String, until deadline: ContinuousClock.Instant) throws(BrowserError)

    /// Evaluates a JavaScript program and returns its value as JSON; waits for a promise. `isUser`: whether as
    /// something that a user has done. Throws also `thrown`.
    func evaluate(
        _ expression: String, isUser: Bool, until deadline: ContinuousClock.Instant
    ) throws(BrowserError) -> JSONValue

    /// Has `script` run in each later document before the document's own scripts.
    func runBeforeLoad(_ script: String, until deadline: ContinuousClock.Instant) throws(BrowserError)

    /// Sets the size of the page's window in CSS pixels.
    func setViewport(width: Int, height: Int, until deadline: ContinuousClock.Instant) throws(BrowserError)

    /// Takes a screenshot of the visible part of the page: a PNG file in base64.
    func screenshot(until deadline: ContinuousClock.Instant) throws(BrowserError) -> String?

    /// Carries out any command of the protocol.
    func call(
        _ method: String, _ parameters: JSONValue, until deadline: ContinuousClock.Instant
    ) throws(BrowserError) -> JSONValue

    /// Handles an event of the page; returns the console message that it brings, if it brings one.
    func receive(_ method: String, _ parameters: JSONValue) -> Page.ConsoleMessage?

    /// Closes the page.
    func close(until deadline: ContinuousClock.Instant) throws(BrowserError)
}
