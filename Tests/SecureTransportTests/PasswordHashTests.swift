import SecureTransport
import Testing

@Suite("Passwords")
struct PasswordHashTests {
    @Test("a password is told from every other")
    func matches() {
        let hash = PasswordHash("Sesam, öffne dich")
        #expect(hash.matches("Sesam, öffne dich"))
        for other in ["", "Sesam, öffne dic", "Sesam, öffne dich ", "sesam, öffne dich", "Sesam, o\u{308}ffne dich"] {
            #expect(!hash.matches(other))
        }
        #expect(PasswordHash("").matches(""))
    }

    @Test("to see whether it is the one takes some milliseconds, and not so many that others wait")
    func time() {
        let hash = PasswordHash("secret")
        let clock = ContinuousClock()
        let times = (0..<5).map { _ in clock.measure { _ = hash.matches("wrong") } }
        let fastest = times.min() ?? .zero
        #expect(fastest > .milliseconds(1))
        #expect(fastest < .milliseconds(100))
    }
}
