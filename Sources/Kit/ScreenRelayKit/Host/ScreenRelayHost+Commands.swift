import Clocks
import MediaTypes
public import Signalling
import Threading

extension ScreenRelayHost {
    /// Makes `answer` handle commands over `/api`; it is usually the ``ControlServer``'s function. It is called on the
    /// signalling thread, must not block, and is released by ``stop()``. `rooms`, `remove`, `present`, `lock` and
    /// `entry` are never passed to it.
    public func answerCommands(with answer: @escaping @Sendable (ControlCommand) -> ControlAnswer) {
        commands.use { [log] command in
            log.info("/api: \(command.jsonWithoutSecrets)")
            return answer(command)
        }
    }

    /// Carries out a command about rooms and their members: `rooms`, `remove`, `present`, `lock` and `entry`. Waits for
    /// the signalling thread, but at most 1 s. Other commands are refused.
    public func carryOut(_ command: ControlCommand) -> ControlAnswer {
        if case .rooms(let room) = command {
            return rooms().map { $0.answer(about: room) } ?? .refused("the host is too busy; try again")
        }
        let answer = OneShot<ControlAnswer>()
        signalling.carryOut(command) { answer?.give($0 ?? .refused("this command isn't about rooms", .invalid)) }
        return answer?.wait(until: .now() + Self.answerTimeout) ?? .refused("the host is too busy; try again")
    }

    /// The host's state for programs. What only a program with options knows is left out: `what`, `source`, `joins` and
    /// `pushes`. Doesn't wait for another thread.
    public func statusDocument() -> StatusDocument { StatusDocument(of: self) }

    /// Calls `answer` on the signalling thread, to prove that the thread works. Doesn't block; after ``stop()``, never
    /// calls it.
    public func ping(_ answer: @escaping @Sendable () -> Void) { signalling.ping(answer) }

    /// Sends an event, one JSON object, to the clients that read the events of `/api`. Doesn't block.
    public func tell(event: String) { signalling.tell(event: event) }
}
