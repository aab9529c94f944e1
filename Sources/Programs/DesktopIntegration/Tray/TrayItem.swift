import SessionBus

/// The icon in the desktop's tray as an object on the bus: org.kde.StatusNotifierItem, the interface of the
/// StatusNotifierItem specification that trays use.
struct TrayItem {
    static let path = "/StatusNotifierItem"
    static let interface = "org.kde.StatusNotifierItem"

    /// The names of the icons that the package installs, of which only those on this machine are used. Some trays show
    /// no icon at all for an unknown name, even if there are pixels.
    private let liveIcon: String
    private let pausedIcon: String

    /// An item whose icons are looked for with `isInstalled`.
    init(isInstalled: (String) -> Bool) {
        func name(_ name: String) -> String { isInstalled(name) ? name : "" }
        liveIcon = name("screenrelay")
        pausedIcon = name("screenrelay-paused")
    }

    /// Answers a call of the item's object. Returns false if it isn't known. `activate` is called after the answer to a
    /// click with the main button.
    func answer(_ message: BusMessage, _ facts: SharingFacts, activate: () -> Void) -> Bool {
        guard message.interface == Self.interface || message.interface.isEmpty else {
            return message.answer(Self.interface, properties(facts), introspection: Self.introspection)
        }
        switch message.member {
        case "Activate":
            message.reply()
            activate()
        case "SecondaryActivate", "ContextMenu", "Scroll": message.reply()
        default: return false
        }
        return true
    }

    /// Tells trays what has changed.
    static func tell(_ bus: BusConnection, from old: SharingFacts, to new: SharingFacts) {
        if old.isPaused != new.isPaused { bus.emit(path, interface, "NewIcon") }
        if toolTip(old) != toolTip(new) { bus.emit(path, interface, "NewToolTip") }
    }

    private static func toolTip(_ facts: SharingFacts) -> [String] {
        ["Screen sharing: \(facts.text)", "Room \(facts.room), \(facts.viewersText)"]
    }

    private func properties(_ facts: SharingFacts) -> [BusProperty] {
        let name = facts.isPaused ? pausedIcon : liveIcon
        return [
            .string("Category", "ApplicationStatus"), .string("Id", "screenrelay"), .string("Title", "ScreenRelay"),
            .string("Status", "Active"), BusProperty("WindowId", "i") { $0.signed(0) },
            .string("IconName", name), .string("IconThemePath", ""), .string("OverlayIconName", ""),
            .string("AttentionIconName", ""), .string("AttentionMovieName", ""),
            BusProperty("IconPixmap", "a(iiay)") { writer in
                writer.array(of: "(iiay)") {
                    for side in TrayIcon.sides {
                        $0.structure("iiay") {
                            $0.signed(Int32(side))
                            $0.signed(Int32(side))
                            $0.bytes(TrayIcon.pixels(side: side, isPaused: facts.isPaused))
                        }
                    }
                }
            },
            BusProperty("OverlayIconPixmap", "a(iiay)") { $0.array(of: "(iiay)") },
            BusProperty("AttentionIconPixmap", "a(iiay)") { $0.array(of: "(iiay)") },
            BusProperty("ToolTip", "(sa(iiay)ss)") { writer in
                writer.structure("sa(iiay)ss") {
                    $0.string(name)
                    $0.array(of: "(iiay)")
                    for line in Self.toolTip(facts) { $0.string(line) }
                }
            },
            .boolean("ItemIsMenu", false), BusProperty("Menu", "o") { $0.path(TrayMenu.path) },
        ]
    }

    private static let introspection = """
        <node><interface name="\(interface)">
        <property name="Category" type="s" access="read"/><property name="Id" type="s" access="read"/>
        <property name="Title" type="s" access="read"/><property name="Status" type="s" access="read"/>
        <property name="WindowId" type="i" access="read"/><property name="IconName" type="s" access="read"/>
        <property name="IconThemePath" type="s" access="read"/>
        <property name="IconPixmap" type="a(iiay)" access="read"/>
        <property name="OverlayIconName" type="s" access="read"/>
        <property name="OverlayIconPixmap" type="a(iiay)" access="read"/>
        <property name="AttentionIconName" type="s" access="read"/>
        <property name="AttentionIconPixmap" type="a(iiay)" access="read"/>
        <property name="AttentionMovieName" type="s" access="read"/>
        <property name="ToolTip" type="(sa(iiay)ss)" access="read"/>
        <property name="ItemIsMenu" type="b" access="read"/><property name="Menu" type="o" access="read"/>
        <method name="Activate"><arg type="i" direction="in"/><arg type="i" direction="in"/></method>
        <method name="SecondaryActivate"><arg type="i" direction="in"/><arg type="i" direction="in"/></method>
        <method name="ContextMenu"><arg type="i" direction="in"/><arg type="i" direction="in"/></method>
        <method name="Scroll"><arg type="i" direction="in"/><arg type="s" direction="in"/></method>
        <signal name="NewIcon"/><signal name="NewToolTip"/>
        </interface></node>
        """
}
