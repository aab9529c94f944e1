import TestSupport
import Testing

@testable import Rooms

@Suite("Texts of chat messages")
struct ChatTextTests {
    @Test(
        "a text keeps its lines, and loses what can't be seen and the white space at its ends",
        arguments: [
            ("Hello", "Hello"), ("  one\r\ntwo \n\t", "one\ntwo"), ("a\tb", "a b"), ("a\n\nb", "a\n\nb"),
            ("A\u{0}n\u{7}n\u{1B}[2J\u{9B}", "Ann[2J"), ("\u{202E}olleh\u{2066}\u{200F}", "olleh"),
            ("a\u{2028}b\u{2029}c\u{85}d", "abcd"), (" \n\u{200B}", ""), ("", ""),
            ("<b>x</b> & \"y\" https://a.example/?b#c", "<b>x</b> & \"y\" https://a.example/?b#c"),
            ("👩‍👩‍👧‍👦 李雷", "👩‍👩‍👧‍👦 李雷"), ("\u{3164}\n\u{2800}\u{200D}", ""), ("\u{301}", ""), ("?\u{3164}", "?\u{3164}"),
        ])
    func clean(text: String, clean: String) {
        #expect(ChatText.clean(text) == clean)
    }

    @Test("a text has at most 500 characters, without the white space at its ends")
    func length() {
        for character in ["x", "李", "👩‍👩‍👧‍👦", "e\u{301}"] where character.unicodeScalars.count <= 4 {
            let longest = String(repeating: character, count: 500)
            #expect(ChatText.clean(" \n\(longest)\n ") == longest)
            #expect(ChatText.clean(longest + "x") == nil)
        }
        #expect(ChatText.clean("x" + String(repeating: "\u{301}", count: 1999))?.count == 1)
        #expect(ChatText.clean("x" + String(repeating: "\u{301}", count: 2000)) == nil)
        #expect(ChatText.clean(String(repeating: " ", count: 40_000)) == nil)
        #expect(ChatText.clean(String(repeating: " ", count: 30_000)) == "")
    }

    @Test("no text is long, whatever stands in it")
    func longTexts() {
        var random = SeededRandom(seed: 7)
        for _ in 0..<300 {
            var text = ""
            for _ in 0..<Int.random(in: 0...3000, using: &random) {
                text.unicodeScalars.append(
                    Unicode.Scalar(UInt32.random(in: 0...0x11_0000, using: &random)) ?? "\u{301}")
            }
            guard let clean = ChatText.clean(text) else { continue }
            #expect(clean.count <= 500 && clean.unicodeScalars.count <= 2000)
            #expect(clean.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
        }
    }
}
