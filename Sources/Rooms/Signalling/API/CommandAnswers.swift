import Synchronization

/// Answers commands of `/api`, once the host's program is able to.
public final class CommandAnswers: Sendable {
    private let answers = Mutex<(@Sendable (ControlCommand) -> ControlAnswer)?>(nil)

    public init() {}

    /// Makes `answer` answer from now on; nil answers no commands. It is called on the signalling thread and must not
    /// block.
    public func use(_ answer: (@Sendable (ControlCommand) -> ControlAnswer)?) {
        answers.withLock { $0 = answer }
    }

    /// Returns the answer to a command.
    func answer(_ command: ControlCommand) -> ControlAnswer {
        let answer = answers.withLock { $0 }
        return answer?(command) ?? .refused("this host takes no commands")
    }
}
