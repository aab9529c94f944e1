/// A host's answer to a command on its control socket or through `/api`.
public enum ControlAnswer: Hashable, Sendable {
    /// The command was carried out. The text is for the user; `made` is the number of what the command has made.
    case done(String, made: Int? = nil)
    /// The command can't be carried out, for the given reason.
    case refused(String, Refusal = .notNow)

    /// What a refusal is due to.
    public enum Refusal: Hashable, Sendable {
        /// The host's state, so that the same command may be carried out later.
        case notNow
        /// What the command names isn't there.
        case missing
        /// What the command says can't be used, now or later.
        case invalid
    }
}
