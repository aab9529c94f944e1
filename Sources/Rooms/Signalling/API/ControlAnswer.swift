/// A host's answer to a command on its control socket or through `/api`.
public enum ControlAnswer: Hashable, Sendable {
    /// The command was carried out. The text is for the user; `made` is the number of the object that the command has
    /// created.
    case done(String, made: Int? = nil)
    /// The command can't be carried out, for the given reason.
    case refused(String, Refusal = .notNow)

    /// The cause of a refusal.
    public enum Refusal: Hashable, Sendable {
        /// The host's state, so that the same command may be carried out later.
        case notNow
        /// The object that the command names doesn't exist.
        case missing
        /// The command's values can't be used, now or later.
        case invalid
    }
}
