/// Stories of those who share from the page.
extension PageStory {
    /// Instead of the screen of a machine without one.
    private static let screen = """
        navigator.mediaDevices.getDisplayMedia = async () => {
          const canvas = document.createElement('canvas');
          [canvas.width, canvas.height] = [640, 360];
          const drawing = canvas.getContext('2d');
          let number = 0;
          setInterval(() => {
            drawing.fillStyle = '#223344';
            drawing.fillRect(0, 0, 640, 360);
            drawing.fillStyle = '#ffffff';
            drawing.font = '60px sans-serif';
            drawing.fillText(`Slide ${number += 1}`, 200, 200);
          }, 200);
          return canvas.captureStream(5);
        };
        """

    /// Every request for a device fails, each kind in its own way.
    private static let noDevices = """
        navigator.mediaDevices.getDisplayMedia = async () => { throw new DOMException('', 'NotReadableError'); };
        navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('', 'NotFoundError'); };
        """

    private static let isSharing = "screenRelay.presenting?.screen === 'live'"

    static let presenting = PageStory(
        "presenting", in: .desktop,
        asking, granted, layouts,
        [
            .until(.bob, "document.querySelectorAll('.turns li').length === 1"), .look(.bob, "turn-hand-over"),
            .act(.ann, "end"), .untilShown(.bob, "turn"), .look(.bob, "turn-ended"), .look(.eve, "presenter-left"),
        ])

    private static let asking: [Step] = [
        .watch(.ann, .presenter, script: screen), .watch(.bob), .watch(.eve, isNamed: false),
        .untilShown(.bob, "present"), .click(.bob, "present"), .look(.bob, "turn-none"),
        .click(.bob, "turn"), .until(.bob, "screenRelay.presenting.turn === 'asked'"), .look(.bob, "turn-asked"),
        .untilShown(.eve, "present"), .click(.eve, "present"), .click(.eve, "turn"),
        .until(.ann, "document.querySelectorAll('.turns li').length === 2"), .look(.ann, "turn-requests-closed"),
        .click(.ann, "present"), .look(.ann, "turn-requests"),
        .click(.ann, "present-screen"), .until(.ann, isSharing), .look(.ann, "presenting-screen"),
    ]

    private static let granted: [Step] = [
        .act(.ann, "allow"), .untilShown(.bob, "present-camera"), .look(.bob, "turn-granted"),
        .click(.bob, "present-camera"), .until(.bob, "document.getElementById('choice-start')?.disabled === false"),
        .look(.bob, "devices"),
        .click(.bob, "choice-start"), .until(.bob, "screenRelay.presenting.camera === 'live'"),
        .look(.bob, "presenting-camera"),
        .click(.bob, "choice-change"), .look(.bob, "devices-live"),
        .look(.ann, "turn-owner"),
    ]

    private static let layouts: [Step] = [
        .until(.eve, "screenRelay.tracks.length === 3"), .click(.eve, "present"), .look(.eve, "stage-one-large"),
        .run(.eve, "document.querySelector('#tracks .track').click()"),
        .until(.eve, "document.querySelector('.track[data-pinned]')"), .look(.eve, "stage-pinned"),
        .run(.eve, "document.querySelector('#tracks > button:not(.fold)').click()"), .look(.eve, "stage-side-by-side"),
        .run(.eve, "document.querySelector('#tracks > .fold').click()"), .look(.eve, "stage-folded"),
    ]

    static let door = PageStory(
        "door", in: .door,
        [
            .open(.ann, .presenter, script: screen, until: "screenRelay.presenting"), .look(.ann, "waiting-owner"),
            .click(.ann, "present"), .look(.ann, "present-offer"),
            .click(.ann, "present-screen"), .until(.ann, isSharing),
            .open(.bob, .viewer, until: "screenRelay.phase === 'waiting'"), .look(.bob, "knocking"),
            .until(.ann, "screenRelay.people.waiting.length === 1"), .look(.ann, "door-knock"),
            .open(.eve, .viewer, isNamed: false, until: "screenRelay.phase === 'waiting'"),
            .click(.ann, "people-button"), .until(.ann, "document.querySelectorAll('.waiting li').length === 2"),
            .look(.ann, "door-waiting"),
            .act(.ann, "refuse"), .until(.bob, "screenRelay.phase === 'failed'"), .look(.bob, "turned-away"),
            // Until the owner is told, Bob still waits there.
            .until(.ann, "document.querySelectorAll('.waiting li').length === 1"),
            .act(.ann, "admit"), .until(.eve, "screenRelay.phase === 'playing'"), .look(.eve, "admitted"),
            .click(.ann, "present-screen"), .until(.eve, "screenRelay.source !== 'live'"),
            .look(.eve, "presenter-stopped"),
        ])

    static let beginning = PageStory(
        "beginning", in: .empty,
        [
            .open(.bob, .viewer, until: "screenRelay.source === 'waiting'"), .look(.bob, "waiting"),
            .open(.eve, .wrong, until: "screenRelay.phase === 'failed'"), .look(.eve, "wrong-link"),
            .open(.eve, .bare, until: "screenRelay.phase === 'failed'"), .look(.eve, "no-link"),
            .open(.ann, .presenter, script: noDevices, until: "screenRelay.presenting"), .click(.ann, "present"),
            .click(.ann, "present-screen"), .click(.ann, "present-camera"),
            .until(.ann, "[...document.querySelectorAll('.presenting .note')].every((note) => note.textContent)"),
            .look(.ann, "present-problems"),
        ])

    static let departure = PageStory(
        "departure", in: .empty,
        [
            .open(.ann, .presenter, script: screen, until: "screenRelay.presenting"), .click(.ann, "present"),
            .click(.ann, "present-screen"), .until(.ann, isSharing),
            .open(.bob, .viewer, until: "screenRelay.phase === 'playing'"),
            .close(.ann), .until(.bob, "screenRelay.source === 'gone'"), .look(.bob, "presenter-closed"),
        ])
}

extension PageStory.Step {
    /// Presses the first button for this action on another member.
    fileprivate static func act(_ user: PageStory.User, _ action: String) -> Self {
        .run(user, "document.querySelector('[data-action=\(action)]').click()")
    }
}
