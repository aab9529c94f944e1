import BrowserDriver

/// A state in which the page looks different from the others.
enum PageState: String, CaseIterable {
    /// A moving screen, with the bar visible.
    case playing
    /// A moving screen, and the charts of the measurements.
    case charts
    /// A host without a capture.
    case waiting
    /// The last picture of a capture that is gone.
    case stale
    /// A link with a wrong token.
    case refused

    /// Waits until the page is in this state, and opens what else belongs to it.
    func reach(on page: Page) throws(BrowserError) {
        try page.waitUntil("Boolean(window.screenRelay && (\(condition)))", within: .seconds(20))
        if self == .charts { try page.evaluate("document.getElementById('figures').click()") }
        // The bar hides by itself, and a pointer movement shows it again.
        try page.evaluate("document.dispatchEvent(new PointerEvent('pointermove'))")
        // Wait until nothing fades in or out any more, and until each second of the charts' line is there.
        try page.settle(for: .milliseconds(self == .charts ? 6_000 : 600))
        try page.evaluate("document.dispatchEvent(new PointerEvent('pointermove'))")
        try page.settle(for: .milliseconds(400))
    }

    private var condition: String {
        switch self {
        case .playing, .charts: "screenRelay.phase === 'playing' && screenRelay.figures.includes('fps')"
        case .waiting: "screenRelay.source === 'waiting'"
        case .stale: "screenRelay.phase === 'playing' && screenRelay.source === 'gone'"
        case .refused: "screenRelay.phase === 'failed'"
        }
    }
}

/// A screen on which viewers open the page.
struct PageScreen {
    let name: String
    let width: Int
    let height: Int
    let isPhone: Bool

    static let all = [
        PageScreen(name: "1920x1080", width: 1920, height: 1080, isPhone: false),
        PageScreen(name: "1366x768", width: 1366, height: 768, isPhone: false),
        PageScreen(name: "390x844", width: 390, height: 844, isPhone: true),
    ]

    /// Gives the page this screen and a colour scheme, before it loads.
    func set(on page: Page, isDark: Bool) throws(BrowserError) {
        try page.send(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .number(Double(width)), "height": .number(Double(height)),
                "deviceScaleFactor": isPhone ? 2 : 1, "mobile": .bool(isPhone),
            ])
        try page.send("Emulation.setTouchEmulationEnabled", ["enabled": .bool(isPhone)])
        try page.send(
            "Emulation.setEmulatedMedia",
            ["features": [["name": "prefers-color-scheme", "value": .string(isDark ? "dark" : "light")]]])
    }
}
