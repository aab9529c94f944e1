public import Signalling
import Threading

extension ScreenRelayHost {
    /// Has `answer` answer the commands that come by `/api`: the one that answers those of the ``ControlServer``. It is called on
    /// the signalling thread, must not block, and is let go of by ``stop()``. `rooms` and `kick` never come this way.
    public func answerCommands(with answer: @escaping @Sendable (ControlCommand) -> ControlAnswer) {
        commands.use { [log] line in
            guard let command = ControlCommand(line: line) else { return nil }
            log.info("/api: \(command.line)")
            return answer(command)
        }
    }

    /// Tells those who read the events of `/api` that something has happened: one JSON object. Doesn't block.
    public func tell(event: String) { signalling.tell(event: event) }
}
