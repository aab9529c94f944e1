import CaptureLink
import MediaTypes
import Recording

extension FuzzTarget {
    /// The bytes of a capture's connection: messages, and the access units in them.
    static let link = FuzzTarget(name: "link", maxInput: 8192, vectors: "capture-link") { input in
        let whole = decode(input, pieceSize: input.count + 1)
        let pieces = decode(input, pieceSize: pieceSize(for: input))
        check(whole.messages == pieces.messages && whole.error == pieces.error, "pieces give the same as the whole")
        for message in whole.messages { checkRoundTrip(message) }
        checkSplitter(input, whole)
        assemble(whole.messages)
    }
}

private typealias Decoded = (messages: [ReceivedMessage], error: LinkError?)

private func decode(_ bytes: [UInt8], pieceSize: Int) -> Decoded {
    var decoder = MessageDecoder()
    var messages: [ReceivedMessage] = []
    var rest = bytes[...]
    do throws(LinkError) {
        while !rest.isEmpty {
            decoder.push(rest.prefix(pieceSize))
            rest = rest.dropFirst(pieceSize)
            while let message = try decoder.next() { messages.append(message) }
        }
    } catch {
        return (messages, error)
    }
    return (messages, nil)
}

/// Checks that a message can be written and read again. Texts and numbers that were out of range are clamped the first
/// time.
private func checkRoundTrip(_ message: ReceivedMessage) {
    guard message.form == .extended, message.header.kind != .unit else { return }
    let encoder = MessageEncoder(epoch: 1)
    func again(_ body: LinkMessage) -> LinkMessage? {
        let bytes = encoder.encode(body)
        var decoder = MessageDecoder(form: .extended)
        decoder.push(bytes)
        return try? decoder.next()?.body
    }
    guard let once = again(message.body) else { return check(false, "what we write can be read") }
    check(again(once) == once, "what we write reads the same")
}

/// Checks that the recorder's splitter accepts the same messages as the host's decoder.
private func checkSplitter(_ bytes: [UInt8], _ decoded: Decoded) {
    var splitter = LinkMessageSplitter()
    splitter.push(bytes[...])
    var messages: [ReceivedMessage] = []
    while let message = splitter.next() {
        do throws(LinkError) {
            if let received = try message.received() { messages.append(received) }
        } catch {
            // The decoder ends here as well: it reads the payload, which the splitter doesn't.
            break
        }
    }
    check(messages == decoded.messages, "recorder and host take the same messages")
}

private func assemble(_ messages: [ReceivedMessage]) {
    var assembler = FrameAssembler()
    var now = MonotonicTime.zero
    func drain() {
        while let unit = assembler.next() { FuzzTarget.checkForm(of: unit.frame) }
    }
    for message in messages {
        // The end of a legacy access unit is detected by time as well.
        now = now + .milliseconds(Int64(message.header.length % 50))
        assembler.timeout(now)
        assembler.add(message, at: now)
        drain()
    }
    assembler.finish()
    drain()
}
