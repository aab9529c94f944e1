import CaptureLink
import LinkTransport
import MediaTypes
import Recording
import TestSupport
import Testing
import TrackHub

/// The sound in a recording.
extension RecordingTests {
    @Test("sound of a connection of its own is recorded between the pictures, whose connection goes on")
    func sound() throws {
        let host = try Host()
        let capture = try TestCapture(path: host.path)
        try capture.greet()
        let pictures = try PlainPictures()
        try capture.send(try pictures.next(shade: 50, isIDR: true))
        try eventually("a picture", holds: { host.hub.publishedFrames == 1 })
        let sound = try TestCapture(path: host.path, stream: MessageHeader.soundStream)
        try sound.greet()
        // Who records counts as a listener.
        try sound.wait(for: "to be told to run") { $0.contains(.watched) }
        let start = now()
        let packets = (0..<3).map { packet($0, at: start + .milliseconds(Int64($0 * 10))) }
        for packet in packets { try sound.send(packet) }
        try eventually("the packets", holds: { host.sound.publishedFrames == 3 })
        sound.connection.close()
        try eventually("its end", holds: { if case .gone = host.sound.sourceState { true } else { false } })
        try capture.send(try pictures.next(shade: 60))
        try eventually("a picture", holds: { host.hub.publishedFrames == 2 })

        let items = try host.items()
        #expect(items.count { $0.content == .connection } == 1)
        let recorded = items.compactMap { item -> LinkBytes? in
            if case .message(let message, .toHost) = item.content { message } else { nil }
        }
        let ofSound = recorded.filter { $0.header.stream == MessageHeader.soundStream }
        #expect(ofSound.map(\.header.kind) == [.hello, .unit, .unit, .unit])
        #expect(ofSound.dropFirst().map { Array($0.payload) } == packets.map(\.bytes))
        let answers = items.compactMap { item -> UInt8? in
            if case .message(let message, .toCapture) = item.content, message.header.kind == .watched {
                message.header.stream
            } else {
                nil
            }
        }
        #expect(answers == [0, 1])
    }
}
