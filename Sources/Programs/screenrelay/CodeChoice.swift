import Glibc
import QRCodes

/// Whether the link is printed as a QR code too, for the camera of a phone.
enum CodeChoice {
    case never
    /// To a terminal that is wide enough, where other machines can reach the link.
    case whereUseful
    case always

    /// The lines of the code; none where there shall be none.
    func lines(for link: String) -> [String] {
        let isTerminal = isatty(1) == 1
        switch self {
        case .never: return []
        case .whereUseful where !isTerminal || Self.isLoopback(link): return []
        case .whereUseful, .always: break
        }
        guard let code = QRCode(link) else { return [] }
        if case .whereUseful = self, let columns = Self.terminalColumns, columns < code.columns { return [] }
        let isPlain = getenv("TERM").map { String(cString: $0) } == "dumb"
        return code.terminalText(isColored: isTerminal && !isPlain).split(separator: "\n").map(String.init)
    }

    /// Whether only this machine gets to where the link leads.
    private static func isLoopback(_ link: String) -> Bool {
        let host = link.drop { $0 != "/" }.drop { $0 == "/" }
        return ["127.", "[::1]", "localhost"].contains { host.hasPrefix($0) }
    }

    private static var terminalColumns: Int? {
        var size = winsize()
        return ioctl(1, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : nil
    }
}
