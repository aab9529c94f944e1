/// Messages to a page as if its host had sent them, for states that take many people, or long to reach.
enum SaidByHost {
    /// Runs before the scripts of the page. Once `room.ends(code)` has closed the page's socket, others never open.
    static let script = """
        {
          const Real = WebSocket;
          let isOver = false;
          const room = window.room = {
            socket: null,
            says(eventName, data) { room.socket.onmessage({ data: JSON.stringify({ eventName, data }) }); },
            ends(code) {
              isOver = true;
              room.socket.onclose({ code });
            },
          };
          window.WebSocket = class extends Real {
            constructor(...values) {
              if (isOver) return room.socket = { url: '', readyState: Real.CONNECTING, send() {}, close() {} };
              super(...values);
              room.socket = this;
            }
          };
        }
        """

    /// Another viewer points; `data` is that of `_point`.
    static func point(_ user: PageStory.User, _ data: String) -> PageStory.Step {
        .run(user, "room.says('_point', \(data))")
    }
}

/// Stories of a page to which its host says what this file says.
extension PageStory {
    static let endings = PageStory(
        "endings", in: .desktop,
        ending("ended", 1001), ending("removed", 4410), ending("expired", 4411),
        ending("full", 4503, reason: "the room is full"),
        ending("refused", 4000, reason: "a reason of the host with rather many words, which need two lines"),
        ending("password", 4401),
        [
            .run(
                .bob,
                """
                document.getElementById('password').value = 'x';
                document.querySelector('#prompt form').requestSubmit();
                room.ends(4401);
                """),
            .untilShown(.bob, "prompt-problem"), .look(.bob, "password-wrong"),
        ])

    private static func ending(_ name: String, _ code: Int, reason: String? = nil) -> [Step] {
        let refusal = reason.map { "room.says('_refused', { reason: '\($0)' });" } ?? ""
        return [
            .watch(.bob, script: SaidByHost.script), .run(.bob, refusal + "room.ends(\(code))"),
            .until(.bob, "screenRelay.phase !== 'playing'"),
            .look(.bob, name),
        ]
    }

    /// Twelve members with long names.
    private static func members(_ rest: String = "") -> String {
        """
        Array.from({ length: 12 }, (_, index) => ({
          socketId: `m${index}`, name: `A person with a rather long name, number ${'0123456789'.repeat(index)}`, \(rest)
        }))
        """
    }

    static let crowd = PageStory(
        "crowd", in: .desktop,
        [
            .watch(.bob, script: SaidByHost.script),
            .run(.bob, "room.says('_state', { source: 'paused', message: 'The sharer has paused.' })"),
            .until(.bob, "screenRelay.source === 'paused'"), .look(.bob, "paused"),
            .run(
                .bob, "room.says('_state', { source: 'gone', message: 'the browser of Ann has ended unexpectedly' })"),
            .until(.bob, "screenRelay.source === 'gone'"), .look(.bob, "presenter-crashed"),
            .run(.bob, "room.says('_state', { source: 'live' })"),
            .run(.bob, "room.says('_people', { count: 60, members: \(members("meeting: index % 3 === 0")) })"),
            .click(.bob, "people-button"), .untilShown(.bob, "show-code"), .look(.bob, "people-many"),
            .run(.bob, "room.says('_turn', { turn: 'none', turnWait: 25 })"), .click(.bob, "present"),
            .look(.bob, "turn-again"),
            .run(.bob, "room.says('_turn', { turn: 'granted', turnLeft: 300 })"),
            .run(.bob, "room.says('_turns', { members: \(members("turn: 'asked'")) })"), .look(.bob, "turn-many"),
            .run(.bob, "room.says('_turn', { turn: 'owner' })"),
            .run(.bob, "room.says('_door', { locked: true, members: \(members()) })"), .click(.bob, "people-button"),
            .untilShown(.bob, "admit-all"), .look(.bob, "door-many"),
        ])
}
