import CommandLine
import Testing

@Suite("Numbers of things in words")
struct CountedWordsTests {
    @Test("one is singular, any other number plural")
    func numbers() {
        #expect(counted(0, "picture") == "0 pictures")
        #expect(counted(1, "picture") == "1 picture")
        #expect(counted(UInt64(2), "message") == "2 messages")
    }
}
