@testable import WaylandCapture

extension FuzzTarget {
    /// What a Wayland compositor sends, read as a whole and in pieces.
    static let compositor = FuzzTarget(name: "compositor") { input in
        let whole = read(input, pieceSize: input.count + 1)
        let pieces = read(input, pieceSize: pieceSize(for: input))
        check(whole.events == pieces.events && whole.isBroken == pieces.isBroken, "pieces give the same as the whole")
        let written = whole.events.flatMap { CompositorMessages.request($0.object, $0.number, $0.arguments) }
        check(written.elementsEqual(input.prefix(written.count)), "events are written as they were read")
    }
}

private func read(_ bytes: [UInt8], pieceSize: Int) -> (events: [CompositorMessages.Event], isBroken: Bool) {
    var messages = CompositorMessages()
    var events: [CompositorMessages.Event] = []
    var rest = bytes[...]
    while !rest.isEmpty {
        messages.append(rest.prefix(pieceSize))
        rest = rest.dropFirst(pieceSize)
        while let event = messages.next() { events.append(event) }
    }
    return (events, messages.isBroken)
}
