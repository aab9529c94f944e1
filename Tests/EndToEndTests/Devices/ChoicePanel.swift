import BrowserDriver

/// The panel in which a page's user chooses devices.
struct ChoicePanel {
    let page: Page
    /// `choice` for a share of a camera, `meet-choice` for a meeting.
    let id: String

    /// Of Chromium's cameras for tests, the first and the fourth; the others have uncommon pixel formats.
    static let first = "fake_device_0"
    static let other = "fake_device_3"

    /// An expression for a part of the panel, such as `start`.
    func part(_ name: String) -> String { "document.getElementById('\(id)-\(name)')" }

    func press(_ name: String) throws { try page.evaluate("\(part(name)).click()") }

    /// Begins with the devices in the panel.
    func start() throws {
        try page.waitUntil("\(part("start"))?.disabled === false")
        try press("start")
    }

    /// Chooses the camera of this label in the open panel, and waits until the panel shows its picture.
    func choose(_ label: String) throws {
        let option =
            "[...document.querySelectorAll('#\(id)-camera option')]"
            + ".find(({ textContent }) => textContent === '\(label)')"
        try page.waitUntil("Boolean(\(option))")
        try page.evaluate(
            """
            ((list, option) => {
              list.value = option.value;
              list.dispatchEvent(new Event('change'));
            })(\(part("camera")), \(option))
            """)
        try expectShown(label)
    }

    /// Waits until the panel shows the picture of the camera of this label, 640 pixels wide.
    func expectShown(_ label: String) throws {
        try page.waitUntil(
            """
            (({ srcObject, videoWidth }) => videoWidth === 640 && srcObject?.getVideoTracks()[0].label === '\(label)')(
              \(part("video")) ?? {})
            """)
    }
}

extension Page {
    /// Keeps the tracks of all devices that the page opens in `window.opened`. Call it before the page is loaded.
    func keepDevices() throws {
        try runBeforeLoad(
            """
            window.opened = [];
            const ask = navigator.mediaDevices?.getUserMedia.bind(navigator.mediaDevices);
            if (ask) navigator.mediaDevices.getUserMedia = async (wanted) => {
              const stream = await ask(wanted);
              window.opened.push(...stream.getTracks());
              return stream;
            };
            """)
    }
}
