import BrowserDriver
import Foundation
import MediaTypes
import TestSupport
import Testing

/// A page in a browser of its own, with a fake camera and microphone, that takes part in the room's meeting.
struct MeetingPage {
    let browser: Browser
    let viewer: ViewerPage
    var page: Page { viewer.page }

    /// The browser's answer when the page asks for the devices.
    enum Permission {
        case granted, denied
    }

    /// The panel of the devices.
    var choice: ChoicePanel { ChoicePanel(page: page, id: "meet-choice") }

    /// Opens `link` as a user called `name`, with so many cameras, which are `fake_device_0` and so on.
    init(
        _ link: String, as name: String? = nil, cameras: Int = 1, permission: Permission = .granted
    ) throws {
        let answer =
            switch permission {
            case .granted: "--use-fake-ui-for-media-stream"
            case .denied: "--deny-permission-prompts"
            }
        browser = try Browser.launch(
            extraFlags: ["--use-fake-device-for-media-stream=fps=15,device-count=\(cameras)", answer])
        let page = try browser.newPage("about:blank")
        try page.keepConnections()
        try page.keepDevices()
        if let name { try page.runBeforeLoad("try { localStorage.setItem('screenrelay.name', '\(name)'); } catch {}") }
        try page.navigate(link)
        viewer = ViewerPage(page)
    }

    /// Enters its name in the panel of people.
    func introduce(as name: String) throws {
        _ = try page.waitUntil("!document.getElementById('people-button').hidden")
        try page.evaluate("document.getElementById('people-button').click()")
        _ = try page.waitUntil("document.getElementById('own-name') !== null")
        let literal = String(decoding: try JSONEncoder().encode(name), as: UTF8.self)
        try page.evaluate("document.getElementById('own-name').value = \(literal)")
        try page.evaluate("document.querySelector('#people form').requestSubmit()")
        try page.evaluate("document.getElementById('people-button').click()")
        try viewer.waitUntilPlaying()
    }

    /// Joins with the camera and the microphone that the panel has, as a user would.
    func join() throws {
        try press()
        try choice.start()
    }

    /// Asks for the panel with the camera and the microphone.
    func press() throws {
        // The meeting is loaded after the first picture.
        _ = try page.waitUntil("document.getElementById('meet')?.hidden === false")
        try page.evaluate("document.getElementById('meet').click()")
        try page.evaluate("document.querySelector('#invitation .primary').click()")
    }

    /// Waits until it sees and hears `count` others.
    func waitForOthers(_ count: Int, within limit: Duration = .seconds(90)) throws {
        let condition = """
            screenRelay.meeting.peers.length === \(count)
              && screenRelay.meeting.peers.every((peer) => peer.state === 'connected' && peer.audio && peer.video)
            """
        do {
            _ = try page.waitUntil(condition, within: limit)
        } catch {
            let facts = try page.evaluate("JSON.stringify(screenRelay.meeting)").string ?? ""
            throw MeetingDiffers(
                expected: "\(count) others", facts: facts, console: page.consoleMessages.map(\.description))
        }
    }

    /// How many pictures the others' tiles have shown, and whether each shows something.
    func tiles() throws -> [(frames: Int, isBlack: Bool)] {
        let script = """
            [...document.querySelectorAll('#meeting .tile:not(.own) video')].map((video) => {
              const canvas = document.createElement('canvas');
              canvas.width = canvas.height = 8;
              const context = canvas.getContext('2d');
              context.drawImage(video, 0, 0, 8, 8);
              const bytes = context.getImageData(0, 0, 8, 8).data;
              const brightest = Math.max(...bytes.filter((_, index) => index % 4 !== 3));
              return { frames: video.getVideoPlaybackQuality().totalVideoFrames, isBlack: brightest < 32 };
            })
            """
        return try page.evaluate(script).array?.map { ($0["frames"].int ?? 0, $0["isBlack"] == true) } ?? []
    }

    /// The names under the others' pictures.
    func names() throws -> [String] {
        try page.evaluate("[...document.querySelectorAll('#meeting .tile:not(.own) .name')].map((e) => e.textContent)")
            .array?.compactMap(\.string) ?? []
    }
}

/// The error if the page's part in the meeting isn't as expected, with what the page says of it.
struct MeetingDiffers: Error, CustomStringConvertible {
    let expected: String
    let facts: String
    let console: [String]
    var description: String { "expected \(expected): \(facts), console: \(console)" }
}
