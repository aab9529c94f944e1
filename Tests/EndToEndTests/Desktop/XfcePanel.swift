import Foundation
import MediaTypes
import Processes
import TestSupport

/// Xfce's panel on a screen of its own, with nothing but the tray, and a session bus for it and the shares.
final class XfcePanel {
    /// Whether the panel is installed.
    static var isAvailable: Bool { ProgramLookup.path(of: "xfce4-panel") != nil }

    /// The bus, and the shares on it.
    let desktop: SharersDesktop
    private let folder: TemporaryFolder
    private let screen: VirtualScreen
    private let client: DisplayClient
    private var panel: ChildProcess?

    /// Starts screen and bus, but not the panel.
    init() throws {
        folder = try TemporaryFolder()
        // xfconfd, which the bus starts, also writes here what the panel changes.
        let channels = "xfce4/xfconf/xfce-perchannel-xml"
        try FileManager.default.createDirectory(atPath: folder.file(channels), withIntermediateDirectories: true)
        try folder.write("\(channels)/xfce4-panel.xml", Array(Self.settings.utf8))
        screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        client = try DisplayClient(screen.name)
        desktop = try SharersDesktop(environment: ["XDG_CONFIG_HOME": folder.path, "DISPLAY": screen.name])
    }

    deinit { stop() }

    /// Starts the panel.
    func start() throws {
        var launch = Launch("xfce4-panel", ["--disable-wm-check"])
        launch.environment = [
            "DISPLAY": screen.name, "DBUS_SESSION_BUS_ADDRESS": desktop.busAddress, "XDG_CONFIG_HOME": folder.path,
            "XDG_CACHE_HOME": folder.file("cache"), "GDK_BACKEND": "x11", "GTK_THEME": "Adwaita", "NO_AT_BRIDGE": "1",
        ]
        launch.standardOutput = .null
        launch.standardError = .text(limit: 64 * 1024)
        panel = try ChildProcess(launch)
    }

    /// Kills the panel.
    func stop() {
        panel?.stop(within: .zero)
        panel = nil
    }

    /// What the panel has complained about.
    var log: String { panel?.errorOutput?.text ?? "" }

    /// Where the panel shows a pixel of this colour, 0xRRGGBB.
    func place(of color: UInt32) -> (x: Int, y: Int)? {
        guard let pixels = client.pixels(of: screen.size) else { return nil }
        let wanted = [UInt8(color >> 16 & 0xFF), UInt8(color >> 8 & 0xFF), UInt8(color & 0xFF)]
        let index = stride(from: 0, to: screen.size.width * Self.height * 4, by: 4).first {
            Array(pixels[$0..<($0 + 3)]) == wanted
        }
        return index.map { (x: $0 / 4 % screen.size.width, y: $0 / 4 / screen.size.width) }
    }

    /// Clicks at a place of the panel.
    func click(_ button: UInt8, at place: (x: Int, y: Int)) {
        client.moveMouse(to: place)
        client.button(button, isDown: true)
        client.button(button, isDown: false)
    }

    /// Opens the menu of the icon at a place, and chooses the entry that this key selects first.
    func chooseFromMenu(at place: (x: Int, y: Int), selecting key: Key) throws {
        // Where the menu will be, which its tooltip would cover too.
        let below = (x: place.x + 20, y: Self.height + 20)
        client.moveMouse(to: (x: screen.size.width - 2, y: screen.size.height - 2))
        try eventually("the end of the tooltip", holds: { client.topWindow(at: below) == 0 })
        click(3, at: place)
        try eventually("the menu", holds: { client.topWindow(at: below) != 0 })
        for key in [key, .enter] {
            client.key(key.rawValue, isDown: true)
            client.key(key.rawValue, isDown: false)
        }
    }

    /// Keys, by their keysyms.
    enum Key: UInt32 {
        case up = 0xFF52
        case down = 0xFF54
        case enter = 0xFF0D
    }

    /// The panel's height in pixels.
    private static let height = 32

    private static let settings = """
        <?xml version="1.0" encoding="UTF-8"?>
        <channel name="xfce4-panel" version="1.0">
        <property name="configver" type="int" value="2"/>
        <property name="panels" type="array"><value type="int" value="1"/>
        <property name="panel-1" type="empty">
        <property name="position" type="string" value="p=6;x=0;y=0"/>
        <property name="position-locked" type="bool" value="true"/>
        <property name="length" type="uint" value="100"/>
        <property name="size" type="uint" value="\(height)"/>
        <property name="plugin-ids" type="array"><value type="int" value="1"/></property>
        </property></property>
        <property name="plugins" type="empty"><property name="plugin-1" type="string" value="systray"/></property>
        </channel>

        """
}
