extension PageStory {
    /// All stories. In a room, they are played in this order; the last of a room leaves tracks behind.
    public static let all: [PageStory] = [
        watching, people, chat, meeting, pointing, endings, crowd, presenting,
        door, beginning, departure,
        PageStory(
            "stale", in: .stale,
            [
                .open(.bob, .viewer, until: "screenRelay.source === 'gone' && screenRelay.phase === 'playing'"),
                .look(.bob, "stale"),
            ]),
    ]

    private static let watching = PageStory(
        "watching", in: .desktop,
        [
            .watch(.bob),
            .look(.bob, "playing"),
            .click(.bob, "figures"),
            // Each second of the line is a point.
            .until(.bob, "(document.querySelector('.chart path')?.getAttribute('d').match(/L/g) ?? []).length > 4"),
            .until(.bob, "document.querySelector('.paths')?.childElementCount > 0"),
            .look(.bob, "charts"),
            .click(.bob, "help"), .look(.bob, "keys"),
            // In a frame of another page.
            .open(
                .eve, .viewer, script: "window.parent = { postMessage() {} };",
                until: "screenRelay.figures.includes('fps')"),
            .look(.eve, "framed"),
        ])

    private static let people = PageStory(
        "people", in: .desktop,
        [
            .watch(.ann, .presenter), .watch(.bob),
            .click(.bob, "people-button"), .untilShown(.bob, "show-code"), .look(.bob, "people"),
            .run(.bob, "document.querySelector('#people .link').click()"), .look(.bob, "people-name"),
            .run(.bob, "document.querySelector('#people form').requestSubmit()"),
            .click(.bob, "copy-link"), .look(.bob, "link-copied"),
            .click(.bob, "show-code"), .until(.bob, "document.querySelector('#code svg')"), .look(.bob, "link-code"),
            .click(.ann, "people-button"), .untilShown(.ann, "lock"), .look(.ann, "door"),
            .click(.ann, "lock"), .until(.ann, "screenRelay.people.locked"), .look(.ann, "door-locked"),
            .open(.eve, .viewer, until: "screenRelay.error"), .look(.eve, "locked-out"),
            .click(.ann, "lock"), .until(.ann, "screenRelay.people.locked === false"),
        ])

    private static let chat = PageStory(
        "chat", in: .desktop,
        [
            .watch(.ann, .presenter), .watch(.bob),
            .click(.bob, "chat-button"), .untilShown(.bob, "chat-text"), .look(.bob, "chat-empty"),
            .click(.ann, "chat-button"), .untilShown(.ann, "chat-text"),
            .say(.ann, "Hello! Can everyone see the slides?"),
            .say(.bob, "Yes. This is a long word: \(String(repeating: "0123456789", count: 8))"),
            .say(.ann, "谢谢！下一页有表格。"),
            .until(.bob, "document.querySelectorAll('#chat [role=log] > div').length === 3"), .look(.bob, "chat"),
            .click(.bob, "chat-button"), .say(.ann, "Next slide"),
            .until(.bob, "document.querySelector('#chat-button .count').textContent !== ''"),
            .look(.bob, "chat-unread"),
            .click(.bob, "chat-button"),
            .run(
                .bob,
                """
                for (let number = 1; number <= 12; number += 1) {
                  document.getElementById('chat-text').value = `Message ${number}`;
                  document.querySelector('#chat form').requestSubmit();
                }
                """),
            .until(.bob, "document.querySelector('#chat > p[role=status]').textContent !== ''"),
            .look(.bob, "chat-refused"),
            .watch(.eve, isNamed: false),
            .click(.eve, "chat-button"), .until(.eve, "document.querySelector('#chat > button')?.checkVisibility()"),
            .look(.eve, "chat-nameless"),
        ])

    /// Whether the devices for the meeting are there.
    private static let canStart = "document.getElementById('meet-choice-start')?.disabled === false"

    private static let meeting = PageStory(
        "meeting", in: .desktop,
        [
            .watch(.ann, .presenter), .watch(.bob),
            .click(.bob, "meet"), .look(.bob, "meeting-offer"),
            .run(.bob, "document.querySelector('#invitation .primary').click()"),
            .until(.bob, canStart), .look(.bob, "meeting-choice"), .click(.bob, "meet-choice-start"),
            .until(.bob, "screenRelay.meeting.state === 'on'"), .look(.bob, "meeting-alone"),
            .click(.ann, "meet"), .run(.ann, "document.querySelector('#invitation .primary').click()"),
            .until(.ann, canStart), .click(.ann, "meet-choice-start"),
            .until(.bob, "screenRelay.meeting.peers.length === 1 && screenRelay.meeting.peers[0].video"),
            .look(.bob, "meeting"),
            .turnOff(.ann), .turnOff(.bob), .until(.bob, "document.querySelector('.tile.faceless')"),
            .look(.bob, "meeting-muted"),
            .click(.bob, "people-button"), .untilShown(.bob, "show-code"), .look(.bob, "meeting-people"),
        ])

    private static let pointing = PageStory(
        "pointing", in: .desktop,
        [
            .watch(.ann), .watch(.bob, script: SaidByHost.script), .watch(.eve, isNamed: false),
            .press(.eve, "l"), .untilShown(.eve, "own-name"), .look(.eve, "laser-nameless"),
            .press(.ann, "l"), .until(.ann, "document.querySelector('#bar [aria-pressed=true]')"), .look(.ann, "laser"),
            .look(
                .bob, "dots",
                after: [
                    SaidByHost.point(.bob, "{ socketId: 'a', name: 'Ann', x: 0.4, y: 0.4 }"),
                    SaidByHost.point(.bob, "{ socketId: 'b', name: 'A rather long name of a person', x: 0.9, y: 0.6 }"),
                ]),
            .look(
                .bob, "lines",
                after: [
                    SaidByHost.point(
                        .bob,
                        """
                        { socketId: 'a', name: 'Ann', x: 0.6, y: 0.5, path: [null, [0.3, 0.3], [0.45, 0.5], [0.6, 0.5]] }
                        """),
                    SaidByHost.point(
                        .bob, "{ socketId: 'b', name: 'Bo', x: 0.8, y: 0.7, path: [null, [0.5, 0.8], [0.8, 0.7]] }"),
                ]),
            .look(.ann, "line-own", after: [.draw(.ann)]),
        ])
}

/// Steps that several stories have.
extension PageStory.Step {
    /// Opens a link of a room with a screen, and waits for the picture and all buttons, of which some come later.
    static func watch(
        _ user: PageStory.User, _ link: PageStory.Link = .viewer, isNamed: Bool = true, script: String = ""
    ) -> Self {
        .open(
            user, link, isNamed: isNamed, script: script,
            until: """
                screenRelay.phase === 'playing' && screenRelay.figures.includes('fps')
                  && screenRelay.meeting && screenRelay.presenting
                """)
    }

    static func untilShown(_ user: PageStory.User, _ id: String) -> Self {
        .until(user, "document.getElementById('\(id)')?.checkVisibility()")
    }

    static func click(_ user: PageStory.User, _ id: String) -> Self {
        .run(user, "document.getElementById('\(id)').click()")
    }

    static func press(_ user: PageStory.User, _ key: String) -> Self {
        .run(user, "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '\(key)', bubbles: true }))")
    }

    /// Writes a message, which has no quotation marks.
    static func say(_ user: PageStory.User, _ text: String) -> Self {
        .run(
            user,
            """
            document.getElementById('chat-text').value = '\(text)';
            document.querySelector('#chat form').requestSubmit();
            """)
    }

    /// Turns the user's microphone and camera off.
    static func turnOff(_ user: PageStory.User) -> Self {
        .run(user, "for (const one of [...document.querySelectorAll('.tile.own button')].slice(0, 2)) one.click()")
    }
}
