import MediaTypes
import Testing

@Suite("Search for a part of a collection")
struct PartSearchTests {
    @Test(
        "the first occurrence is found, even at the start or the end",
        arguments: [
            ("abcabc", "bc", 1), ("abc", "abc", 0), ("aab", "ab", 1), ("abc", "c", 2), ("abc", "", 0), ("", "", 0),
        ])
    func position(text: String, part: String, offset: Int) {
        #expect(text.firstPosition(of: part) == text.index(text.startIndex, offsetBy: offset))
    }

    @Test(
        "a part that is missing or incomplete is not found", arguments: [("abc", "d"), ("abc", "bcd"), ("", "a")])
    func missing(text: String, part: String) {
        #expect(text.firstPosition(of: part) == nil)
    }

    @Test("characters match whole characters, however they are composed, and scalars match scalars")
    func combiningScalars() {
        let text = "cafe\u{301}"
        #expect(text.firstPosition(of: "é") != nil && text.firstPosition(of: "fe") == nil)
        #expect(text.unicodeScalars.firstPosition(of: "fe".unicodeScalars) != nil)
    }
}
