public import BrowserDriver

/// A screen on which users open the page.
public struct PageScreen: Sendable {
    /// The width in CSS pixels.
    public let name: String
    let width: Int
    let height: Int
    let isPhone: Bool

    /// A desktop's.
    public static let wide = PageScreen(name: "1280", width: 1280, height: 800, isPhone: false)
    /// A phone's: it has a touch screen and no mouse.
    public static let phone = PageScreen(name: "390", width: 390, height: 844, isPhone: true)

    /// Both screens in both colour schemes.
    public static let all: [(screen: PageScreen, isDark: Bool)] = [
        (wide, false), (wide, true), (phone, false), (phone, true),
    ]

    /// Gives the page this screen and a colour scheme; nothing on the page fades or slides then.
    /// Throws the errors of `Page.send`.
    public func set(on page: Page, isDark: Bool) throws(BrowserError) {
        try page.send(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .number(Double(width)), "height": .number(Double(height)), "deviceScaleFactor": 1,
                "mobile": .bool(isPhone),
            ])
        try page.send("Emulation.setTouchEmulationEnabled", ["enabled": .bool(isPhone)])
        try page.send(
            "Emulation.setEmulatedMedia",
            [
                "features": [
                    ["name": "prefers-color-scheme", "value": .string(isDark ? "dark" : "light")],
                    ["name": "prefers-reduced-motion", "value": "reduce"],
                ]
            ])
    }
}
