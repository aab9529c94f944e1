import CommandLine
import Signalling

/// The options of `share` and `host` for the servers that help viewers through NATs and firewalls.
enum ICEOptions {
    static let options = [
        Option(
            long: "ice-server", value: .required("URL"),
            help:
                "a STUN or TURN server for viewers whose networks can't reach this machine directly: "
                + "stun:HOST[:PORT], turn:[USER:PASSWORD@]HOST[:PORT][?transport=udp|tcp] or turns: for TURN over TLS; "
                + "each admitted viewer receives the credentials; may be repeated",
            repeats: true, alsoSoughtAs: ["stun", "turn", "relay", "coturn"], isSecret: true),
        Option(
            long: "ice-secret-file", value: .required("FILE"),
            help:
                "for the turn servers without USER:PASSWORD, make credentials for each viewer that are valid for a "
                + "day, from the secret that the servers share with this host (coturn's static-auth-secret): the first "
                + "line of this file, which only this user can read"),
    ]

    /// The option of `view`, whose client uses TURN only over TCP or TLS.
    static let viewing = Option(
        long: "ice-server", value: .required("URL"),
        help:
            "a TURN server to use if neither UDP nor TCP reaches the host within 2 s, instead of those that the host "
            + "names: turn:USER:PASSWORD@HOST[:PORT], over TCP, or turns: for TLS; may be repeated",
        repeats: true, alsoSoughtAs: ["stun", "turn", "relay", "coturn"], isSecret: true)

    /// The servers of `view --ice-server`. Hides their credentials from users who list processes.
    static func relays(_ options: ParsedOptions) throws(UsageError) -> [ICEServer] {
        try read(
            options, "--ice-server",
            orProblem: "not a TURN server over TCP or TLS with a user and a password; write it like "
                + "turn:USER:PASSWORD@turn.example.org or turns:USER:PASSWORD@turn.example.org"
        ) {
            $0.isReachableByStream && $0.isComplete
        }
    }

    /// The servers of `--ice-server`, of which each must be one that is `usable`.
    private static func read(
        _ options: ParsedOptions, _ label: String, orProblem problem: String, usable: (ICEServer) -> Bool
    ) throws(UsageError) -> [ICEServer] {
        let texts = options.values("ice-server")
        SecretArguments.hide(texts.compactMap(userInformation))
        var servers: [ICEServer] = []
        for text in texts {
            let server = ICEServer(text).flatMap { usable($0) ? $0 : nil }
            let format = ValueFormat(orProblem: problem) { _ in server }
            servers.append(try format.read(shown(text), option: label))
        }
        return servers
    }

    /// The servers of `--ice-server`. Hides their credentials from users who list processes.
    static func servers(_ options: ParsedOptions) throws(UsageError) -> [ICEServer] {
        let label = options.place(of: "ice-server") ?? "--ice-server"
        var servers = try read(
            options, label,
            orProblem: "not a STUN or TURN server; write it like stun:stun.example.org, "
                + "turn:turn.example.org:3478?transport=tcp or turns:USER:PASSWORD@turn.example.org"
        ) { _ in true }
        let secret = try secret(options)
        for index in servers.indices where !servers[index].isComplete {
            guard let secret else {
                throw UsageError(
                    "\(label) \(servers[index].url): browsers refuse a TURN server without credentials; write "
                        + "turn:USER:PASSWORD@HOST, or add --ice-secret-file FILE")
            }
            servers[index].credentials = .secret(secret.text)
        }
        if let secret, !servers.contains(where: { $0.credentials == .secret(secret.text) }) {
            throw UsageError(
                "\(secret.label): there is no TURN server that uses it; add --ice-server turn:HOST, without "
                    + "USER:PASSWORD")
        }
        return servers
    }

    private static func secret(_ options: ParsedOptions) throws(UsageError) -> (text: String, label: String)? {
        guard let file = try options.value("ice-secret-file", as: .text) else { return nil }
        let label = "\(options.place(of: "ice-secret-file") ?? "--ice-secret-file") \(file)"
        do throws(PasswordError) {
            return (try PasswordInput.read(file: file), label)
        } catch {
            throw UsageError("\(label): \(error)", exitCode: error.exitCode)
        }
    }

    /// `USER:PASSWORD` as it was typed.
    private static func userInformation(_ text: String) -> String? {
        guard let colon = text.firstIndex(of: ":"), let at = text.lastIndex(of: "@"), colon < at else { return nil }
        return String(text[text.index(after: colon)..<at])
    }

    /// The part of a URL that an error may show: nothing that could be a password, because errors may go to a journal.
    private static func shown(_ text: String) -> String {
        if let at = text.lastIndex(of: "@") { return "...\(text[at...])" }
        return text.lowercased().hasPrefix("turn") ? "turn..." : text
    }
}
