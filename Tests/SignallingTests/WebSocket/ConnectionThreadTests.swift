import MediaTypes
import Signalling
import TestSupport
import Testing
import Threading

@Suite("The thread of connections to servers")
struct ConnectionThreadTests {
    @Test("posted work and ticks may use what belongs to the thread")
    func own() throws {
        let thread = ConnectionThread()
        let ticks = try #require(OneShot<Bool>())
        #expect(thread.start("test"))
        thread.post {
            thread.check()
            thread.tick(every: .milliseconds(1)) {
                thread.check()
                ticks.give(true)
            }
        }
        #expect(ticks.wait(until: now() + .seconds(10)) == true)
        thread.stop()
        thread.join(until: now() + .seconds(10))
    }

    #if DEBUG
        @Test("another thread is stopped in a debug build", .timeLimit(.minutes(30)))
        func other() async throws {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let thread = ConnectionThread()
                #expect(thread.start("test"))
                thread.check()
            }
            let words = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
            #expect(words.contains("called on a thread that doesn't own this"), "\(words)")
        }
    #endif
}
