/// What a host answers to a command of its control socket, or of `/api`.
public enum ControlAnswer: Hashable, Sendable {
    /// It was done; the text is for who asked.
    case done(String)
    /// It can't be done, for that reason.
    case refused(String)
}
