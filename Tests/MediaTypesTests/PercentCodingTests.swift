import ByteCoding
import Testing

@Suite("Percent-encoding")
struct PercentCodingTests {
    @Test("unreserved characters stay, and all others become the bytes of UTF-8")
    func encoding() {
        let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
        #expect(PercentCoding.encode(unreserved) == unreserved)
        #expect(PercentCoding.encode("a b/%\n+") == "a%20b%2F%25%0A%2B")
        #expect(PercentCoding.encode("é😀") == "%C3%A9%F0%9F%98%80" && PercentCoding.encode("") == "")
    }

    @Test(
        "what is encoded is decoded, with digits in either case",
        arguments: [
            ("", ""), ("a%20b", "a b"), ("%c3%A9", "é"), ("%F0%9F%98%80", "😀"), ("é%25", "é%"), ("%2541", "%41"),
            ("a+b", "a+b"),
        ])
    func decoding(text: String, decoded: String) {
        #expect(PercentCoding.decode(text) == decoded)
        #expect(PercentCoding.decode(PercentCoding.encode(text)) == text)
    }

    @Test(
        "what is incomplete or no text is refused",
        arguments: ["%", "a%4", "%zz", "%+1", "% 1", "%%41", "%1é", "%FF", "%C3", "%C3a", "%ED%A0%80", "%C0%80"])
    func invalid(text: String) {
        #expect(PercentCoding.decode(text) == nil && PercentCoding.decode(text, allowsControls: true) == nil)
    }

    @Test("control characters are refused unless they are allowed, encoded or not")
    func controls() {
        for byte in UInt8(0)...0x7F {
            let character = String(Unicode.Scalar(byte))
            let decoded = byte < 0x20 || byte == 0x7F ? nil : character
            let digits = (byte < 0x10 ? "0" : "") + String(byte, radix: 16)
            #expect(PercentCoding.decode("%\(digits)") == decoded)
            #expect(PercentCoding.decode("%\(digits)", allowsControls: true) == character)
            if character != "%" { #expect(PercentCoding.decode(character) == decoded) }
        }
    }
}
