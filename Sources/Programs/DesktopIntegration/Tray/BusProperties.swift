import SessionBus

/// A property of an object on the bus.
struct BusProperty {
    let name: String
    /// The type of its value.
    let type: String
    let write: (inout BusWriter) -> Void

    init(_ name: String, _ type: String, _ write: @escaping (inout BusWriter) -> Void) {
        self.name = name
        self.type = type
        self.write = write
    }

    static func string(_ name: String, _ text: String) -> BusProperty { BusProperty(name, "s") { $0.string(text) } }
    static func boolean(_ name: String, _ flag: Bool) -> BusProperty { BusProperty(name, "b") { $0.boolean(flag) } }
}

extension BusMessage {
    /// Answers `Get` and `GetAll` of org.freedesktop.DBus.Properties for an object's own interface, and `Introspect`.
    /// Returns false for other calls, and for other properties.
    func answer(_ interface: String, _ properties: [BusProperty], introspection: String) -> Bool {
        switch (self.interface, member) {
        case ("org.freedesktop.DBus.Introspectable", "Introspect"):
            reply { $0.string(introspection) }
            return true
        case ("org.freedesktop.DBus.Properties", "Get"):
            guard let values = self.values(), values.count == 2, values.first?.text == interface,
                let property = properties.first(where: { $0.name == values.last?.text })
            else { return false }
            reply { $0.variant(property.type, property.write) }
            return true
        case ("org.freedesktop.DBus.Properties", "GetAll"):
            guard values()?.first?.text == interface else { return false }
            reply {
                $0.array(of: "{sv}") { for property in properties { $0.entry(property) } }
            }
            return true
        default: return false
        }
    }
}

extension BusWriter {
    /// Appends a property as an entry of a dictionary.
    mutating func entry(_ property: BusProperty) { entry(property.name, property.type, property.write) }
}
