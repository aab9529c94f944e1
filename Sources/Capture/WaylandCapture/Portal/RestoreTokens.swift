import Glibc
import LinkTransport

/// The tokens with which the desktop shares the same source again without asking the user: one for each choice and its
/// source types, in a file that only this user can read. Each token works once; a session gives the next one.
public struct RestoreTokens: Sendable {
    /// The folder of the files.
    public let folder: String
    /// The name of the user's choice.
    private let choice: String

    /// The tokens in this folder, which need not exist.
    ///
    /// - Parameter choice: what sets the choice apart from others of the same source types, which are made for other
    ///   viewers; any text.
    public init(folder: String, choice: String) {
        self.folder = folder
        self.choice = choice
    }

    /// The tokens in the state folder; nil if there is no home (see ``StateFolder``).
    ///
    /// - Parameters:
    ///   - choice: as for `init(folder:choice:)`.
    ///   - environment: returns the value of a variable.
    public init?(choice: String, environment: (String) -> String?) {
        guard let folder = StateFolder.path(environment) else { return nil }
        self.init(folder: folder, choice: choice)
    }

    /// The file with the token for these source types.
    public func path(for sources: PortalSourceTypes) -> String {
        // No room's name has the '=', so that this isn't the file of a room's token.
        "\(folder)/portal-\(sources.names.joined(separator: "+"))=\(Self.escaped(choice)).token"
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
    /// - Throws: `tokenNotWritten`. The token of the last choice is removed then, if possible: with it, a capture that
    ///   is restarted would share what the user has just replaced.
    public func keep(_ token: String?, for sources: PortalSourceTypes) throws(PortalError) {
        let path = path(for: sources)
        guard let token else {
            if unlink(path) != 0, errno != ENOENT, errno != ENOTDIR { throw .tokenNotWritten(path: path, code: errno) }
            return
        }
        StateFolder.makeFolders(of: path)
        let code = StateFolder.replace(path, with: token + "\n")
        guard code != 0 else { return }
        unlink(path)
        throw .tokenNotWritten(path: path, code: code)
    }

    /// A text as a part of a file's name that no other text has.
    private static func escaped(_ text: String) -> String {
        var name = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "/": name += "%2F"
            case "%": name += "%25"
            default: name.unicodeScalars.append(scalar)
            }
        }
        return name
    }

    /// Whether a text may be a token: they are UUIDs today, and opaque.
    static func isToken(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
}
