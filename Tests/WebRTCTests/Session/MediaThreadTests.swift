#if DEBUG
    import MediaTypes
    import Testing
    import Threading

    @testable import WebRTC

    @Suite("What belongs to the media thread")
    struct MediaThreadTests {
        @Test("a feed that another thread uses stops the program in a debug build", .timeLimit(.minutes(30)))
        func feed() async throws {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let feed = Sent(try Rig().feed)
                NamedThread("another") { feed.value.requestKeyFrame(now: .zero) }?.join()
            }
            try Self.expectFault(in: try #require(result))
        }

        @Test("a session that another thread uses stops the program in a debug build", .timeLimit(.minutes(30)))
        func session() async throws {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let rig = try Rig()
                let session = Sent(try rig.addPeer().session)
                NamedThread("another") { session.value.advance(now: .zero) }?.join()
            }
            try Self.expectFault(in: try #require(result))
        }

        private static func expectFault(in result: ExitTest.Result) throws {
            let words = String(decoding: result.standardErrorContent, as: UTF8.self)
            #expect(words.contains("called on a thread that doesn't own this"), "\(words)")
        }
    }
#endif
