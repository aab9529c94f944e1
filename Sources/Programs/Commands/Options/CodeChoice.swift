import CLinux
import Glibc
import QRCodes
import Threading

/// Whether the link is also printed as a QR code, for a phone's camera.
enum CodeChoice {
    case never
    /// Only if standard output is a terminal that is wide enough, and other machines can reach the link.
    case whereUseful
    case always

    /// The lines of the code. Empty if none is to be printed.
    func lines(for link: String) -> [String] {
        let isTerminal = isatty(1) == 1
        switch self {
        case .never: return []
        case .whereUseful where !isTerminal || Self.isLocal(link): return []
        case .whereUseful, .always: break
        }
        guard let code = QRCode(link) else { return [] }
        if case .whereUseful = self, let columns = Self.terminalColumns, columns < code.columns { return [] }
        let isPlain = getenv("TERM").map { String(cString: $0) } == "dumb"
        return code.terminalText(isColored: isTerminal && !isPlain).split(separator: "\n").map(String.init)
    }

    /// Whether only this machine can reach the link's host.
    private static func isLocal(_ link: String) -> Bool {
        Loopback.contains(authority: link.drop { $0 != "/" }.dropFirst(2).prefix { $0 != "/" })
    }

    private static var terminalColumns: Int? {
        let columns = shim_terminal_columns(1)
        return columns > 0 ? Int(columns) : nil
    }
}
