/// A key together with modifier keys, such as `Ctrl+Alt+P`.
public struct KeyChord: Equatable, Sendable, CustomStringConvertible {
    /// What the user wrote.
    public let description: String
    /// The keysym of the key without Shift (X11 protocol, appendix A).
    let symbol: UInt32
    /// The modifiers as in the state of X's key events: Shift 1, Control 4, Mod1 (Alt) 8, Mod4 (Super) 64.
    let modifiers: UInt16

    static let shift: UInt16 = 1
    static let control: UInt16 = 4
    static let alt: UInt16 = 8
    static let superKey: UInt16 = 64

    /// Parses names that are joined by `+`, in any case: modifiers, and last a letter, a digit or the name of a key.
    /// Nil if that isn't possible, or if the key is one that people type with and neither Ctrl, Alt nor Super is
    /// pressed with it.
    public init?(_ text: String) {
        let names = text.split(separator: "+", omittingEmptySubsequences: false).map { $0.lowercased() }
        guard let key = names.last, let (symbol, isTyped) = Self.key(key) else { return nil }
        var modifiers: UInt16 = 0
        for name in names.dropLast() {
            guard let modifier = Self.modifiers[name], modifiers & modifier == 0 else { return nil }
            modifiers |= modifier
        }
        guard !isTyped || modifiers & ~Self.shift != 0 else { return nil }
        description = text
        self.symbol = symbol
        self.modifiers = modifiers
    }

    /// The chord in the desktop portal's syntax (Shortcuts Specification 0.1, section 2), for example `CTRL+ALT+p`.
    var trigger: String {
        let pressed = Self.portalModifiers.filter { modifiers & $0.bit != 0 }
        return (pressed.map(\.name) + [keysymName]).joined(separator: "+")
    }

    private static let portalModifiers: [(name: String, bit: UInt16)] = [
        ("CTRL", control), ("ALT", alt), ("SHIFT", shift), ("LOGO", superKey),
    ]

    /// The keysym's name in xkbcommon-keysyms.h, without its prefix.
    private var keysymName: String {
        if let name = Self.keysymNames[symbol] { return name }
        if symbol >= Self.f1 { return "F\(symbol - Self.f1 + 1)" }
        return String(UnicodeScalar(UInt8(truncatingIfNeeded: symbol)))
    }

    private static let keysymNames: [UInt32: String] = [
        0x20: "space", 0xFF50: "Home", 0xFF55: "Page_Up", 0xFF56: "Page_Down", 0xFF57: "End", 0xFF63: "Insert",
        0xFF13: "Pause", 0xFF14: "Scroll_Lock", 0xFF61: "Print",
    ]

    private static let modifiers = [
        "shift": shift, "ctrl": control, "control": control, "alt": alt, "super": superKey, "win": superKey,
    ]

    /// Keys that people type with, and others.
    private static let typedKeys: [String: UInt32] = [
        "space": 0x20, "home": 0xFF50, "pageup": 0xFF55, "pagedown": 0xFF56, "end": 0xFF57, "insert": 0xFF63,
    ]
    private static let otherKeys: [String: UInt32] = ["pause": 0xFF13, "scrolllock": 0xFF14, "print": 0xFF61]

    /// The keysym of F1; those of the other keys follow.
    private static let f1: UInt32 = 0xFFBE

    private static func key(_ name: String) -> (symbol: UInt32, isTyped: Bool)? {
        if let symbol = typedKeys[name] { return (symbol, true) }
        if let symbol = otherKeys[name] { return (symbol, false) }
        let bytes = Array(name.utf8)
        if bytes.count == 1, let byte = bytes.first {
            let isKey =
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            return isKey ? (UInt32(byte), true) : nil
        }
        guard bytes.first == UInt8(ascii: "f"), let number = UInt32(name.dropFirst()), (1...24).contains(number),
            name == "f\(number)"
        else { return nil }
        return (f1 + number - 1, false)
    }
}
