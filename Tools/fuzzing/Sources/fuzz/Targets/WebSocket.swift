@testable import Signalling

extension FuzzTarget {
    /// WebSocket frames, read as a whole and in pieces.
    static let webSocket = FuzzTarget(name: "websocket") { input in
        let whole = read(input, pieceSize: input.count + 1)
        let pieces = read(input, pieceSize: pieceSize(for: input))
        check(whole.events == pieces.events && whole.fault == pieces.fault, "pieces give the same as the whole")
        var total = 0
        for event in whole.events {
            switch event {
            case .message(let bytes):
                check(bytes.count <= limit, "a message keeps its limit")
                total += bytes.count
            case .ping(let bytes):
                check(bytes.count <= 125, "a control frame keeps its limit")
                total += bytes.count
            case .pong, .close: break
            }
        }
        check(total <= input.count, "no more comes out than went in")
    }
}

private let limit = 1024

private func read(
    _ frames: [UInt8], pieceSize: Int
) -> (events: [WebSocketDecoder.Event], fault: WebSocketDecoder.FrameError?) {
    var decoder = WebSocketDecoder(limit: limit)
    var events: [WebSocketDecoder.Event] = []
    var rest = frames[...]
    do throws(WebSocketDecoder.FrameError) {
        while !rest.isEmpty {
            decoder.append(rest.prefix(pieceSize))
            rest = rest.dropFirst(pieceSize)
            while let event = try decoder.next() { events.append(event) }
        }
    } catch {
        return (events, error)
    }
    return (events, nil)
}
