import CommandLine
import ScreenRelayKit
import Signalling

extension HostOptions {
    /// Who may use `/api`: anyone who can read the file with its token. The file is created if it doesn't exist. Nil if
    /// there can be none.
    static func administration(
        _ options: ParsedOptions, listen: [ListenAddress]
    ) throws(UsageError) -> Administration? {
        let named = try options.value("admin-token-file", as: .text)
        let allowsNetwork = options.has("api-lan")
        if allowsNetwork, !options.has("lan") {
            throw UsageError("--api-lan: without --lan, no other machine gets here; add --lan, or leave this out")
        }
        do throws(TokenFileError) {
            if let named {
                return Administration(
                    token: try TokenFile(path: named).token(namedBy: "--admin-token-file"),
                    allowsNetwork: allowsNetwork, tokenFile: named)
            }
            if let file = TokenFile(administrationOf: listen.map { "\($0)" }) {
                return Administration(
                    token: try file.token(makesFolders: true), allowsNetwork: allowsNetwork, tokenFile: file.path)
            }
        } catch {
            // The user didn't name a file; the same problem is reported for the room's token file.
            if let named { throw error.problem(of: "--admin-token-file", named) }
            if allowsNetwork { throw UsageError("--api-lan: \(error)", exitCode: error.exitCode) }
            return nil
        }
        if allowsNetwork { throw UsageError("--api-lan: name a file for its token with --admin-token-file") }
        return nil
    }
}
