/// A host's answer to a command on its control socket or through `/api`.
public enum ControlAnswer: Hashable, Sendable {
    /// The command was carried out. The text is for the user.
    case done(String)
    /// The command can't be carried out, for the given reason.
    case refused(String)
}
