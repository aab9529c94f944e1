import CommandLine
import Joining

/// `--join URL`: rooms of other servers, whose members get the first track, too.
struct JoinOption {
    static let option = Option(
        long: "join", value: .required("URL"),
        help:
            "also join a room on another server, and offer the first track to each other member there: "
            + "skyrtc:wss://HOST/PATH#ROOM or skyrtc:ws://..., or, for a room for two, socketio:https://HOST#ROOM or "
            + "socketio:http://...; path and room are never logged or listed; may be repeated",
        repeats: true, alsoSoughtAs: ["skyrtc", "socketio", "socket.io", "member", "conference"], isSecret: true)

    /// Each has a thread.
    private static let maxCount = 16

    let targets: [JoinTarget]
    /// A line for a user who joins a server on another machine without letting other machines in.
    let warning: String?

    /// Reads the options, and hides the rooms from users who list processes.
    init(_ options: ParsedOptions) throws(UsageError) {
        let wanted = options.values("join")
        SecretArguments.hide(wanted)
        let place = options.place(of: "join") ?? "--join"
        guard wanted.count <= Self.maxCount else {
            throw UsageError("\(place): there can be \(Self.maxCount) at most, and there are \(wanted.count)")
        }
        targets = try wanted.map { text throws(UsageError) in
            do throws(JoinError) {
                return try JoinTarget(text)
            } catch {
                // Without the URL, whose room may be a secret: this may go to a journal.
                throw UsageError("\(place): \(error)")
            }
        }
        let far = options.has("lan") ? nil : targets.first { !$0.isOnThisMachine }
        warning = far.map {
            "--join \($0): without --lan, only members on this machine can receive the video"
        }
    }
}
