import CommandLine
import ScreenRelayKit
import Signalling

extension HostOptions {
    /// All options that `share` and `host` have in common.
    static let all = options + administrationOptions + SharingNews.options

    static let administrationOptions = [
        Option(
            long: "admin-token-file", value: .required("FILE"),
            help:
                "keep the token of the HTTP interface for administration, /api, in this file; without it, the token is "
                + "kept next to the rooms' tokens in $XDG_STATE_HOME/screenrelay or ~/.local/state/screenrelay, as "
                + "api-ADDRESS.token. If it can't be kept, there is no /api"),
        Option(
            long: "api-lan", help: "allow other machines to use /api, with its token; without it, only this machine can"
        ),
    ]

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
                    token: try TokenFile(path: named).token(), allowsNetwork: allowsNetwork, tokenFile: named)
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
