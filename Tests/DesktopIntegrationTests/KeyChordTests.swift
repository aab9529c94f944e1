import Testing

@testable import DesktopIntegration

@Suite("A key that pauses")
struct KeyChordTests {
    @Test("is read with its modifiers in any case and order")
    func modifiers() throws {
        let chord = try #require(KeyChord("Ctrl+Alt+P"))
        #expect(chord.symbol == 0x70 && chord.modifiers == KeyChord.control | KeyChord.alt)
        #expect(chord.description == "Ctrl+Alt+P")
        let other = try #require(KeyChord("ALT+control+p"))
        #expect(other.symbol == chord.symbol && other.modifiers == chord.modifiers)
        #expect(KeyChord("Super+Shift+9")?.modifiers == KeyChord.superKey | KeyChord.shift)
    }

    @Test(
        "may be a key that people don't type with, without a modifier",
        arguments: [("Pause", 0xFF13), ("F1", 0xFFBE), ("f24", 0xFFD5), ("Shift+F9", 0xFFC6), ("ScrollLock", 0xFF14)])
    func alone(text: String, symbol: UInt32) {
        #expect(KeyChord(text)?.symbol == symbol)
    }

    @Test(
        "is refused if it would take a key from what people type, or isn't one",
        arguments: [
            "", "p", "Shift+P", "space", "Home", "Ctrl+", "+P", "Ctrl+Ctrl+P", "Ctrl+Alt", "Hyper+P", "F0", "F25",
            "F01", "F+1", "Ctrl+ö", "Ctrl+,", "Ctrl P", "Ctrl++",
        ])
    func refused(text: String) {
        #expect(KeyChord(text) == nil)
    }

    @Test(
        "has the desktop portal's syntax, with the modifiers in one order and the key's name in xkbcommon",
        arguments: [
            ("Alt+Ctrl+P", "CTRL+ALT+p"), ("Super+Shift+9", "SHIFT+LOGO+9"), ("Ctrl+Space", "CTRL+space"),
            ("Ctrl+PageUp", "CTRL+Page_Up"), ("pause", "Pause"), ("ScrollLock", "Scroll_Lock"), ("F1", "F1"),
            ("Shift+f24", "SHIFT+F24"),
        ])
    func trigger(text: String, trigger: String) {
        #expect(KeyChord(text)?.trigger == trigger)
    }
}
