import Glibc
import LinkTransport

/// The tokens with which the desktop shares the same source again without asking the user: one for each choice of
/// source types, in a file that only this user can read. Each token works once; a session gives the next one.
public struct RestoreTokens: Sendable {
    /// The folder of the files.
    public let folder: String

    /// The tokens in this folder, which need not exist.
    public init(folder: String) { self.folder = folder }

    /// The tokens in the state folder; nil if there is no home (see ``StateFolder``).
    ///
    /// - Parameter environment: returns the value of a variable.
    public init?(environment: (String) -> String?) {
        guard let folder = StateFolder.path(environment) else { return nil }
        self.init(folder: folder)
    }

    /// The file with the token for these source types.
    public func path(for sources: PortalSourceTypes) -> String {
        "\(folder)/portal-\(sources.names.joined(separator: "+")).token"
    }

    /// Returns the token for these source types; nil if there is none, or none that can be used.
    public func token(for sources: PortalSourceTypes) -> String? {
        guard let file = try? SmallFile(secret: path(for: sources), limit: 1024) else { return nil }
        var text = String(decoding: file.bytes, as: UTF8.self)
        if text.hasSuffix("\n") { text.removeLast() }
        return Self.isToken(text) ? text : nil
    }

    /// Keeps the token that a session has given instead of the one that opened it; nil removes that one. Missing
    /// folders are created, with access for this user only.
    ///
    /// - Throws: `tokenNotWritten`.
    public func keep(_ token: String?, for sources: PortalSourceTypes) throws(PortalError) {
        let path = path(for: sources)
        guard let token else {
            if unlink(path) != 0, errno != ENOENT, errno != ENOTDIR { throw .tokenNotWritten(path: path, code: errno) }
            return
        }
        StateFolder.makeFolders(of: path)
        let code = StateFolder.replace(path, with: token + "\n")
        if code != 0 { throw .tokenNotWritten(path: path, code: code) }
    }

    /// Whether a text may be a token: they are UUIDs today, and opaque.
    static func isToken(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
}
