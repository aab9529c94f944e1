import MediaTypes

@testable import RTMP

extension FuzzTarget {
    /// A publisher's connection: what follows the handshake, read as a whole and in pieces, and the same bytes as a
    /// handshake.
    static let rtmp = FuzzTarget(
        name: "rtmp", maxInput: 8192,
        words: [
            "connect", "app", "releaseStream", "FCPublish", "createStream", "publish", "FCUnpublish", "deleteStream",
            "closeStream", "play", "@setDataFrame", "onMetaData", "encoder", "live", "ROOM?token=TOKEN", "ROOM,TOKEN",
            "avc1", "hvc1", "mp4a", "Opus", "\u{0}\u{0}\u{9}",
        ]
    ) { input in
        var greeting = RTMPConversation()
        greeting.receive(input[...])
        while let step = try? greeting.next() { if case .close = step { break } }
        let whole = publish(input, pieceSize: input.count + 1)
        let pieces = publish(input, pieceSize: pieceSize(for: input))
        check(whole.media == pieces.media && whole.error == pieces.error, "pieces give the same as the whole")
        check(whole.places == pieces.places, "pieces ask for the same places")
        check(whole.sent <= 8192 + 64 * input.count, "answers are not much longer than commands")
        checkValues(input)
    }
}

/// The bytes of pictures and sound that were passed on, and what else came of the input.
private struct Published {
    var media: [[UInt8]] = []
    var places: [RTMPPlace] = []
    var sent = 0
    var error: RTMPError?
}

private func publish(_ input: [UInt8], pieceSize: Int) -> Published {
    var published = Published()
    var conversation = RTMPConversation()
    func take() throws(RTMPError) {
        while let step = try conversation.next() {
            switch step {
            case .send(let bytes), .close(let bytes, _): published.sent += bytes.count
            case .publish(let place):
                published.places.append(place)
                published.sent += conversation.accept().count
            case .media(.picture(let frame, _, _)):
                FuzzTarget.checkForm(of: frame)
                published.media.append(frame.bytes)
            case .media(.audioConfiguration(let configuration)): published.media.append(configuration.bytes)
            case .media(.audio(let bytes, _)): published.media.append(bytes)
            case .unpublish: check(!conversation.isPublishing, "a stream ends once")
            }
        }
    }
    let greeting = [3] + [UInt8](repeating: 0, count: 2 * 1536)
    var rest = input[...]
    do throws(RTMPError) {
        conversation.receive(greeting[...])
        try take()
        while !rest.isEmpty {
            conversation.receive(rest.prefix(pieceSize))
            rest = rest.dropFirst(pieceSize)
            try take()
        }
    } catch {
        published.error = error
    }
    return published
}

/// Checks that values that can be read are read the same after they were written.
private func checkValues(_ input: [UInt8]) {
    // A byte that isn't UTF-8 becomes three, and a text has its limit when it is read again.
    var reader = AMFReader(input.prefix(RTMPLimits.text / 3))
    while let value = try? reader.next() {
        var again = AMFReader(AMFWriter.bytes(of: [value])[...])
        // A number may be one that isn't equal to itself.
        let read = try? again.next()
        check(read.map { "\($0)" } == "\(value)", "a value that we write reads the same")
    }
}
