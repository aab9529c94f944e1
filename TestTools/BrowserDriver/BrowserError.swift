/// The reason why the browser could not be used.
public enum BrowserError: Error, Equatable, CustomStringConvertible {
    /// No such browser is installed.
    case notInstalled(Browser.Kind)
    /// The browser could not be started; the text says why.
    case notStarted(String)
    /// The browser has ended; the text is the end of its output.
    case gone(String)
    /// The browser did not do what the text says in time.
    case deadlineMissed(String)
    /// The browser refused a command of its protocol.
    case refused(method: String, reason: String)
    /// A page could not be loaded.
    case notLoaded(url: String, reason: String)
    /// JavaScript threw an exception, described by the text.
    case thrown(String)
    /// The browser sent an answer that violates the protocol.
    case unexpectedAnswer(String)

    public var description: String {
        switch self {
        case .notInstalled(let kind):
            "none of \(kind.candidates.joined(separator: ", ")) found; install one or set \(kind.variable) to its path"
        case .notStarted(let reason): "the browser did not start: \(reason)"
        case .gone(let text): "the browser has ended\(text.isEmpty ? "" : ": \(text)")"
        case .deadlineMissed(let what): "the browser took too long: \(what)"
        case .refused(let method, let reason): "the browser refused \(method): \(reason)"
        case .notLoaded(let url, let reason): "\(url) could not be loaded: \(reason)"
        case .thrown(let text): "the page's JavaScript threw: \(text)"
        case .unexpectedAnswer(let what): "the browser gave an answer that makes no sense: \(what)"
        }
    }
}
