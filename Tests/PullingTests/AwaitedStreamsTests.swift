import MediaTypes
import Testing

@testable import Pulling

@Suite("What a source has announced, and doesn't send")
struct AwaitedStreamsTests {
    private func said(
        _ pieces: [(picture: Bool, seconds: Int64)], announced: (pictures: Bool, sound: Bool)
    ) -> [String] {
        var awaited = AwaitedStreams()
        return pieces.compactMap { piece in
            awaited.note(picture: piece.picture, announced: announced, now: .zero + .seconds(9 + piece.seconds))
        }
    }

    @Test("is named once, after five seconds of the other")
    func missing() {
        #expect(said([(false, 0), (false, 4)], announced: (true, true)) == [])
        #expect(said([(false, 0), (false, 5), (false, 6)], announced: (true, true)) == ["pictures"])
        #expect(said([(true, 0), (true, 5), (true, 60)], announced: (true, true)) == ["sound"])
    }

    @Test("is nothing where all has come, or nothing else was announced")
    func complete() {
        #expect(said([(false, 0), (true, 4), (false, 9)], announced: (true, true)) == [])
        #expect(said([(false, 0), (false, 9)], announced: (false, true)) == [])
        #expect(said([(true, 0), (true, 9)], announced: (true, false)) == [])
    }
}
