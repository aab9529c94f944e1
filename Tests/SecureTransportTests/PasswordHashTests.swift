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

    @Test("to see whether it is the one takes some milliseconds, and not so many that others wait")
    func time() {
        let hash = PasswordHash("secret")
        let times = (0..<5).map { _ in
            let before = threadTime()
            _ = hash.matches("wrong")
            return threadTime() - before
        }
        let fastest = times.min() ?? .zero
        #expect(fastest > .milliseconds(1))
        #expect(fastest < .milliseconds(100))
    }

    /// What this thread has computed: others that run meanwhile don't count.
    private func threadTime() -> Interval {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Interval(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
