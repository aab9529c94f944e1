import Glibc
import MediaTypes
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

    @Test("comparing passwords takes little time, so that right ones need no limit")
    func time() {
        let hash = PasswordHash("secret")
        let times = (0..<5).map { _ in
            let before = threadTime()
            _ = hash.matches("wrong")
            return threadTime() - before
        }
        #expect((times.min() ?? .zero) < .milliseconds(1))
    }

    /// What this thread has computed: others that run meanwhile don't count.
    private func threadTime() -> Interval {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Interval(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
