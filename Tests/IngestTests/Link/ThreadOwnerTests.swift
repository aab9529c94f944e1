import Testing
import Threading

@Suite("Owners of values that aren't thread-safe")
struct ThreadOwnerTests {
    @Test("the thread that created it may use it")
    func same() {
        let owner = ThreadOwner()
        owner.check()
    }

    #if DEBUG
        @Test("another thread is stopped in a debug build", .timeLimit(.minutes(30)))
        func other() async throws {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let owner = ThreadOwner()
                NamedThread("another") { owner.check() }?.join()
            }
            let words = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
            #expect(words.contains("called on a thread that doesn't own this"), "\(words)")
        }
    #else
        @Test("it takes no room in a release build")
        func size() {
            #expect(MemoryLayout<ThreadOwner>.size == 0)
        }
    #endif
}
