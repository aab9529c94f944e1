import BrowserDriver
import MediaTypes
import TestSupport

/// A page in a browser of its own, whose user presents in a ``PublishedRoom``.
struct PresentingPage {
    let browser: Browser
    let viewer: ViewerPage
    var page: Page { viewer.page }
    /// The panel of the devices.
    var choice: ChoicePanel { ChoicePanel(page: page, id: "choice") }

    /// Instead of the screen of a machine without one: the picture that ``PublishedPicture`` expects, and a tone.
    private static let screen = """
        navigator.mediaDevices.getDisplayMedia = async () => {
          const canvas = document.createElement('canvas');
          [canvas.width, canvas.height] = [320, 240];
          const drawing = canvas.getContext('2d');
          let step = 0;
          setInterval(() => {
            step = (step + 1) % 16;
            const colours = ['#f00', '#0f0', '#00f', '#fff', `rgb(${step * 16} ${step * 16} ${step * 16})`];
            colours.forEach((colour, index) => {
              drawing.fillStyle = colour;
              drawing.fillRect(index * 64, 0, 64, 240);
            });
          }, 100);
          const stream = canvas.captureStream(30);
          const context = new AudioContext();
          const tone = new OscillatorNode(context, { frequency: 440 });
          const sound = context.createMediaStreamDestination();
          tone.connect(sound);
          tone.start();
          stream.addTrack(sound.stream.getAudioTracks()[0]);
          window.shared = stream;
          return stream;
        };
        """

    /// Opens `link`, or the link that the host prints for presenters, as a user called `name`. Without
    /// `replacesScreen`, the screen is the one that Chromium has for tests, as the cameras, `fake_device_0` and so on,
    /// are in any case.
    init(
        _ room: PublishedRoom, as name: String = "Ann", link: String? = nil, replacesScreen: Bool = true,
        cameras: Int = 1, permission: MeetingPage.Permission = .granted
    ) throws {
        let answer = permission == .granted ? "--use-fake-ui-for-media-stream" : "--deny-permission-prompts"
        browser = try Browser.launch(
            extraFlags: ["--use-fake-device-for-media-stream=fps=15,device-count=\(cameras)", answer])
        let page = try browser.newPage("about:blank")
        try page.keepConnections()
        try page.keepDevices()
        if replacesScreen { try page.runBeforeLoad(Self.screen) }
        try page.runBeforeLoad("try { localStorage.setItem('screenrelay.name', '\(name)'); } catch {}")
        try page.navigate(link ?? room.host.printed("Presenters: "))
        viewer = ViewerPage(page)
    }

    /// Presses the button that shares "screen" or "camera".
    func press(_ kind: String) throws {
        try page.waitUntil("document.getElementById('present')?.hidden === false")
        try page.evaluate("document.getElementById('presenting').hidden && document.getElementById('present').click()")
        try page.evaluate("document.getElementById('present-\(kind)').click()")
    }

    /// Shares "screen" or "camera", as a user would, and returns the track's name.
    @discardableResult
    func share(_ kind: String) throws -> String {
        try press(kind)
        if kind == "camera" { try start() }
        return try waitUntilLive(kind)
    }

    /// Begins the share of the devices in the panel.
    func start() throws {
        try choice.start()
    }

    /// Waits until the share is live, and returns the track's name.
    func waitUntilLive(_ kind: String) throws -> String {
        try page.waitUntil("screenRelay.presenting.\(kind) === 'live'")
        return try eventually("the track") {
            try page.evaluate("screenRelay.tracks.findLast(({ name }) => name.startsWith('\(kind)-'))?.name").string
        }
    }

    /// What the panel says of the screen.
    func note() throws -> String? {
        try page.evaluate("document.querySelector('#presenting .note').textContent").string
    }
}
