import Testing

@testable import WaylandCapture

@Suite("A compositor's messages")
struct CompositorMessagesTests {
    @Test("are the same events, however they are cut into pieces")
    func pieces() {
        let interface = CompositorMessages.string("wl_output")
        let sent =
            CompositorMessages.request(2, 0, [7] + interface + [4]) + CompositorMessages.request(3, 2, [])
            + CompositorMessages.request(1, 1, [.max])
        let expected = [
            CompositorMessages.Event(object: 2, number: 0, arguments: [7] + interface + [4]),
            CompositorMessages.Event(object: 3, number: 2, arguments: []),
            CompositorMessages.Event(object: 1, number: 1, arguments: [.max]),
        ]
        for length in [1, 3, 8, 13, sent.count] {
            var messages = CompositorMessages()
            var events: [CompositorMessages.Event] = []
            for start in stride(from: 0, to: sent.count, by: length) {
                messages.append(sent[start..<min(start + length, sent.count)])
                while let event = messages.next() { events.append(event) }
            }
            #expect(events == expected && !messages.isBroken)
        }
    }

    @Test("with a size that no event has are the end", arguments: [0, 4, 7, 10, 65535] as [UInt32])
    func sizes(size: UInt32) {
        var messages = CompositorMessages()
        let words: [UInt32] = [1, size << 16, 0, 0, 0]
        messages.append(words.flatMap { word in withUnsafeBytes(of: word) { Array($0) } })
        #expect(messages.next() == nil && messages.isBroken)
        messages.append(CompositorMessages.request(1, 0, []))
        #expect(messages.next() == nil)
    }

    @Test("have strings with their final 0, in whole words")
    func strings() {
        #expect(CompositorMessages.string("abc").count == 2 && CompositorMessages.string("abc").first == 4)
        #expect(CompositorMessages.string("wl_output").count == 4 && CompositorMessages.string("wl_output").first == 10)
    }
}
