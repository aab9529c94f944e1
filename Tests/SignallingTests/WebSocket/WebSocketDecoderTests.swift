import TestSupport
import Testing

@testable import Signalling

@Suite("Reading WebSocket frames")
struct WebSocketDecoderTests {
    private let stream =
        WebSocketClient.frame(1, Array("Hello".utf8)) + WebSocketClient.frame(2, [1, 2], isFinal: false)
        + WebSocketClient.frame(9, [7]) + WebSocketClient.frame(0, [], isFinal: false) + WebSocketClient.frame(0, [3])
        + WebSocketClient.frame(10, []) + WebSocketClient.frame(8, [3, 232])
    private let events: [WebSocketDecoder.Event] = [
        .message(Array("Hello".utf8)), .ping([7]), .message([1, 2, 3]), .pong, .close(1000),
    ]

    @Test("frames come out the same however their bytes come", arguments: [1, 2, 3, 7, 1000])
    func pieces(size: Int) throws {
        var decoder = WebSocketDecoder(limit: 64)
        var seen: [WebSocketDecoder.Event] = []
        for start in stride(from: 0, to: stream.count, by: size) {
            decoder.append(stream[start..<min(start + size, stream.count)])
            while let event = try decoder.next() { seen.append(event) }
        }
        #expect(seen == events)
    }

    @Test("a beginning of the stream gives a beginning of the events")
    func prefixes() throws {
        for count in 0...stream.count {
            var decoder = WebSocketDecoder(limit: 64)
            decoder.append(stream.prefix(count))
            var seen: [WebSocketDecoder.Event] = []
            while let event = try decoder.next() { seen.append(event) }
            #expect(seen == Array(events.prefix(seen.count)))
        }
    }

    @Test("mutated frames never trap and never give more than the limit", arguments: 0..<20)
    func mutations(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            var decoder = WebSocketDecoder(limit: 64)
            decoder.append(random.mutation(of: stream))
            while let event = try? decoder.next() {
                if case .message(let bytes) = event { #expect(bytes.count <= 64) }
            }
        }
    }

    @Test("lengths are written as the RFC says", arguments: [0, 125, 126, 65535, 65536])
    func writing(count: Int) {
        let text = String(repeating: "a", count: count)
        #expect(WebSocketFrame.text(text) == WebSocketClient.frame(1, Array(text.utf8), isMasked: false))
    }

    @Test("a client's frames are masked, and a server's must not be")
    func masks() throws {
        for count in [0, 5, 126, 65536] {
            let text = String(repeating: "a", count: count)
            let frame = WebSocketClient.frame(1, Array(text.utf8))
            #expect(WebSocketFrame.masked(WebSocketFrame.text(text), key: 0x7856_3412) == frame)
            var server = WebSocketDecoder(limit: 1 << 17, isMasked: false)
            server.append(WebSocketFrame.text(text))
            let event = try server.next()
            #expect(event == .message(Array(text.utf8)))
            server.append(frame)
            #expect(throws: WebSocketDecoder.FrameError.protocolError) { try server.next() }
        }
        var client = WebSocketDecoder(limit: 64)
        client.append(WebSocketFrame.text("a"))
        #expect(throws: WebSocketDecoder.FrameError.protocolError) { try client.next() }
    }
}
