import SessionBus

/// The menu of the tray icon as an object on the bus: com.canonical.dbusmenu, version 3, as libdbusmenu describes it.
enum TrayMenu {
    static let path = "/MenuBar"
    static let interface = "com.canonical.dbusmenu"

    /// What the user has chosen.
    enum Choice {
        case togglePause
        case stop
    }

    /// The items, by their identifiers. The root isn't shown.
    fileprivate enum Item: Int32, CaseIterable {
        case root = 0
        case viewers
        case pause
        case separator
        case stop

        static let shown: [Item] = [.viewers, .pause, .separator, .stop]

        /// The properties that don't have their defaults.
        func properties(_ facts: SharingFacts) -> [BusProperty] {
            switch self {
            case .root: [.string("children-display", "submenu")]
            case .viewers: [.string("label", facts.viewersText), .boolean("enabled", false)]
            case .pause: [.string("label", facts.isPausedBySharer ? "Resume" : "Pause")]
            case .separator: [.string("type", "separator")]
            case .stop: [.string("label", "Stop sharing")]
            }
        }
    }

    /// Answers a call of the menu's object. Returns false if it isn't known. `choose` is called after the answer.
    static func answer(_ message: BusMessage, _ facts: SharingFacts, choose: (Choice) -> Void) -> Bool {
        guard message.interface == interface || message.interface.isEmpty else {
            return message.answer(interface, properties, introspection: introspection)
        }
        let member = message.member
        let values = message.values() ?? []
        switch member {
        case "GetLayout":
            guard let item = values.first?.item, case .signed(let depth)? = values.dropFirst().first else {
                message.refuse()
                break
            }
            let names = values.last?.names ?? []
            message.reply { writer in
                // The layout's revision. The layout never changes, only labels do.
                writer.unsigned(1)
                writer.structure("ia{sv}av") { layout(item, facts, names, isDeep: depth != 0, &$0) }
            }
        case "GetGroupProperties":
            let wanted = values.first?.elements.compactMap(\.item) ?? []
            let names = values.last?.names ?? []
            message.reply { writer in
                writer.array(of: "(ia{sv})") {
                    for item in wanted.isEmpty ? Item.allCases : wanted {
                        $0.structure("ia{sv}") { describe(item, facts, names, &$0) }
                    }
                }
            }
        case "GetProperty":
            let wanted = values.first?.item?.properties(facts).first { $0.name == values.last?.text }
            if let wanted { message.reply { $0.variant(wanted.type, wanted.write) } } else { message.refuse() }
        case "Event":
            message.reply()
            if let choice = choice(of: values) { choose(choice) }
        case "EventGroup":
            let events = values.first?.elements.map(\.members) ?? []
            let unknown = events.filter { $0.first?.item == nil }.compactMap { $0.first?.signedNumber }
            message.reply { $0.array(of: "i") { for number in unknown { $0.signed(number) } } }
            for event in events { if let choice = choice(of: event) { choose(choice) } }
        // Changes are told when they happen, so that nothing has to be read again before the menu is shown.
        case "AboutToShow": message.reply { $0.boolean(false) }
        case "AboutToShowGroup":
            message.reply {
                $0.array(of: "i")
                $0.array(of: "i")
            }
        default: return false
        }
        return true
    }

    /// Tells trays which labels have changed. It isn't a new layout, for which some trays close a menu that is open.
    static func tell(_ bus: BusConnection, from old: SharingFacts, to new: SharingFacts) {
        var changed: [Item] = []
        if old.viewersText != new.viewersText { changed.append(.viewers) }
        if old.isPausedBySharer != new.isPausedBySharer { changed.append(.pause) }
        guard !changed.isEmpty else { return }
        bus.emit(path, interface, "ItemsPropertiesUpdated") { writer in
            writer.array(of: "(ia{sv})") {
                for item in changed {
                    $0.structure("ia{sv}") { describe(item, new, ["label"], &$0) }
                }
            }
            // The properties that have their defaults again.
            writer.array(of: "(ias)")
        }
    }

    /// The choice that an event of an item is: an identifier, an event's name, data and a time.
    private static func choice(of event: [BusValue]) -> Choice? {
        guard event.dropFirst().first?.text == "clicked" else { return nil }
        return switch event.first?.item {
        case .pause: .togglePause
        case .stop: .stop
        default: nil
        }
    }

    private static func layout(
        _ item: Item, _ facts: SharingFacts, _ names: [String], isDeep: Bool, _ writer: inout BusWriter
    ) {
        describe(item, facts, names, &writer)
        writer.array(of: "v") {
            guard item == .root, isDeep else { return }
            for child in Item.shown {
                $0.variant("(ia{sv}av)") {
                    $0.structure("ia{sv}av") { layout(child, facts, names, isDeep: false, &$0) }
                }
            }
        }
    }

    /// Appends an item's identifier and those of its properties that are named; all of them if none is.
    private static func describe(
        _ item: Item, _ facts: SharingFacts, _ names: [String], _ writer: inout BusWriter
    ) {
        writer.signed(item.rawValue)
        writer.array(of: "{sv}") {
            for property in item.properties(facts) where names.isEmpty || names.contains(property.name) {
                $0.entry(property)
            }
        }
    }

    private static var properties: [BusProperty] {
        [
            BusProperty("Version", "u") { $0.unsigned(3) }, .string("TextDirection", "ltr"),
            .string("Status", "normal"), BusProperty("IconThemePath", "as") { $0.array(of: "s") },
        ]
    }

    private static let introspection = """
        <node><interface name="\(interface)">
        <property name="Version" type="u" access="read"/><property name="TextDirection" type="s" access="read"/>
        <property name="Status" type="s" access="read"/><property name="IconThemePath" type="as" access="read"/>
        <method name="GetLayout"><arg type="i" direction="in"/><arg type="i" direction="in"/>
        <arg type="as" direction="in"/><arg type="u" direction="out"/><arg type="(ia{sv}av)" direction="out"/></method>
        <method name="GetGroupProperties"><arg type="ai" direction="in"/><arg type="as" direction="in"/>
        <arg type="a(ia{sv})" direction="out"/></method>
        <method name="GetProperty"><arg type="i" direction="in"/><arg type="s" direction="in"/>
        <arg type="v" direction="out"/></method>
        <method name="Event"><arg type="i" direction="in"/><arg type="s" direction="in"/><arg type="v" direction="in"/>
        <arg type="u" direction="in"/></method>
        <method name="EventGroup"><arg type="a(isvu)" direction="in"/><arg type="ai" direction="out"/></method>
        <method name="AboutToShow"><arg type="i" direction="in"/><arg type="b" direction="out"/></method>
        <method name="AboutToShowGroup"><arg type="ai" direction="in"/><arg type="ai" direction="out"/>
        <arg type="ai" direction="out"/></method>
        <signal name="ItemsPropertiesUpdated"><arg type="a(ia{sv})"/><arg type="a(ias)"/></signal>
        <signal name="LayoutUpdated"><arg type="u"/><arg type="i"/></signal>
        </interface></node>
        """
}

extension BusValue {
    fileprivate var signedNumber: Int32? { if case .signed(let number) = self { number } else { nil } }
    fileprivate var elements: [BusValue] { if case .array(let elements) = self { elements } else { [] } }
    fileprivate var members: [BusValue] { if case .structure(let members) = self { members } else { [] } }
    fileprivate var names: [String] { elements.compactMap(\.text) }
    fileprivate var item: TrayMenu.Item? { signedNumber.flatMap { TrayMenu.Item(rawValue: $0) } }
}
