import H264
import MediaTypes
import TestSupport
import Testing

@testable import RTMP

@Suite("What is published over RTMP")
struct RTMPMediaTests {
    /// The frames of a stream, and their parameter sets as a configuration with lengths of `lengthSize` bytes.
    private func stream(lengthSize: Int = 4) throws -> (frames: [CodedFrame], record: [UInt8]) {
        let frames = AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes())
        let first = try #require(frames.first)
        let sets = first.units.map { Array(first.bytes[$0]) }.filter { [7, 8].contains(($0.first ?? 0) & 31) }
        try #require(sets.count == 2)
        return (frames, configuration(sets[0], sets[1], lengthSize: lengthSize))
    }

    /// The configuration with these parameter sets.
    private func configuration(_ sequence: [UInt8], _ picture: [UInt8], lengthSize: Int = 4) -> [UInt8] {
        var record: [UInt8] = [1]
        record += sequence[1..<4]
        record += [0xFC | UInt8(lengthSize - 1), 0xE1]
        record += bigEndian(sequence.count, 2)
        record += sequence
        record.append(1)
        record += bigEndian(picture.count, 2)
        record += picture
        return record
    }

    /// A frame without its parameter sets, with a length before each NAL unit.
    private func prefixed(_ frame: CodedFrame, lengthSize: Int = 4) -> [UInt8] {
        frame.units.map { Array(frame.bytes[$0]) }.filter { ![7, 8].contains(($0.first ?? 0) & 31) }
            .flatMap { bigEndian($0.count, lengthSize) + $0 }
    }

    private func isSame(_ left: CodedFrame, _ right: CodedFrame) -> Bool {
        left.units.map { left.bytes[$0] } == right.units.map { right.bytes[$0] }
            && left.isRandomAccess == right.isRandomAccess
    }

    @Test("H.264 comes out as it was encoded, with its parameter sets before each IDR picture", arguments: [2, 4])
    func pictures(lengthSize: Int) throws {
        let (frames, record) = try stream(lengthSize: lengthSize)
        var client = try RTMPTestClient.publishing()
        try client.send(message(9, on: 6, bytes("17 00 000000") + record))
        for (index, frame) in frames.enumerated() {
            let head = bytes(frame.isRandomAccess ? "17 01 000000" : "27 01 000000")
            try client.send(
                message(9, on: 6, at: UInt32(40 * index), head + prefixed(frame, lengthSize: lengthSize)), step: 100)
        }
        #expect(client.pictures.count == frames.count)
        #expect(zip(client.pictures, frames).allSatisfy { isSame($0.frame, $1) })
        #expect(client.pictures.map { $0.shown } == (0..<frames.count).map { Int64(40 * $0) })
        #expect(client.pictures.first?.frame.format?.size == PictureSize(width: 176, height: 144))
    }

    @Test("H.264 in the messages of Enhanced RTMP is the same")
    func enhanced() throws {
        let (frames, record) = try stream()
        var client = try RTMPTestClient.publishing()
        try client.send(message(9, bytes("90 'avc1'") + record))
        try client.send(message(9, at: 10, bytes("91 'avc1' 000014") + prefixed(frames[0])))
        try client.send(message(9, at: 20, bytes("A3 'avc1'") + prefixed(frames[1])))
        // Metadata and the end of a sequence hold no pictures.
        try client.send(message(9, at: 30, bytes("94 'avc1' 02 0009 'colorInfo'")) + message(9, bytes("92 'avc1'")))
        #expect(zip(client.pictures, frames).allSatisfy { isSame($0.frame, $1) })
        #expect(client.pictures.map { $0.decoded } == [10, 20])
        #expect(client.pictures.map { $0.shown } == [30, 20])
    }

    @Test("times wrap, jump by hours and run back, and pictures may be shown before or after they are decoded")
    func times() throws {
        let (frames, record) = try stream()
        var client = try RTMPTestClient.publishing()
        try client.send(message(9, on: 6, bytes("17 00 000000") + record) + Written.soundConfiguration)
        let picture = bytes("17 01 FFFFF6") + prefixed(frames[0])
        // Those from 0xFF_FFFF on, which is after 4.7 hours, have a field of their own.
        let eightHours: UInt32 = 8 * 3600 * 1000
        for time in [0xFFFF_FFF0, 0xFFFF_FFFF, 0x10, 0x10 + eightHours, 0x10] as [UInt32] {
            try client.send(message(9, on: 6, at: time, picture) + message(8, at: time, bytes("AF 01 0102")))
        }
        let start: Int64 = 0xFFFF_FFF0
        #expect(client.pictures.map { $0.decoded - start } == [0, 15, 32, 32 + Int64(eightHours), 32])
        #expect(client.sound.map { $0.heard } == client.pictures.map { $0.decoded })
        #expect(client.pictures.allSatisfy { $0.shown == $0.decoded - 10 })
    }

    @Test("a new configuration in the middle holds from the next picture on")
    func reconfigured() throws {
        let (frames, record) = try stream()
        var client = try RTMPTestClient.publishing()
        try client.send(Written.pictureConfiguration)
        try client.send(message(9, on: 6, bytes("17 00 000000") + record))
        try client.send(message(9, on: 6, bytes("17 01 000000") + prefixed(frames[0])))
        let first = try #require(client.pictures.first)
        #expect(isSame(first.frame, frames[0]))
    }

    @Test("pictures that claim to have 512x500000 pixels are left out, and those of a usual size follow them")
    func huge() throws {
        let (frames, record) = try stream()
        let claim = SkippedPictures(columns: 32, rows: 31_250, references: 1)
        var usual = SkippedPictures(columns: 1, rows: 1, references: 1)
        let sets = configuration(claim.sequenceParameterSet(), claim.pictureParameterSet())
        let slice = usual.idrSlice()
        var client = try RTMPTestClient.publishing()
        try client.send(message(9, on: 6, bytes("17 00 000000") + sets))
        try client.send(message(9, on: 6, bytes("17 01 000000") + bigEndian(slice.count, 4) + slice))
        #expect(client.pictures.isEmpty)
        try client.send(message(9, on: 6, bytes("17 00 000000") + record))
        try client.send(message(9, on: 6, bytes("17 01 000000") + prefixed(frames[0])))
        #expect(client.pictures.count == 1 && client.closing == nil)
    }

    @Test("AAC comes out with its configuration, which is told once")
    func sound() throws {
        var client = try RTMPTestClient.publishing()
        try client.send(message(8, at: 5, bytes("AF 01 DEAD")))
        try client.send(Written.soundConfiguration + Written.soundConfiguration)
        try client.send(message(8, at: 23, bytes("AF 01 0102")) + message(8, at: 46, bytes("91 'mp4a' 0304")))
        let configurations = client.media.compactMap { item -> AACConfiguration? in
            if case .audioConfiguration(let configuration) = item { configuration } else { nil }
        }
        #expect(configurations.map(\.bytes) == [bytes("120856E500")])
        #expect(configurations.map(\.isMono) == [true])
        // 1,024 samples at 44.1 kHz.
        #expect(configurations.map(\.frameDuration.milliseconds) == [23])
        #expect(client.sound.map { $0.bytes } == [[1, 2], [3, 4]])
        #expect(client.sound.map { $0.heard } == [23, 46])
    }

    @Test(
        "an AAC configuration tells whether there is one channel",
        arguments: [("1210", false), ("1188", true), ("EB09", false), ("1780000088", false)])
    func channels(text: String, isMono: Bool) throws {
        let configuration = try #require(AACConfiguration(bytes(text)[...]))
        #expect(configuration.isMono == isMono)
    }

    @Test(
        "any other codec is refused by its name",
        arguments: [
            (9, "1C 00", "the video is H.265; set the encoder to H.264"), (9, "90 'hvc1'", "the video is H.265;"),
            (9, "90 'av01'", "the video is AV1;"), (9, "12 00", "the video is Sorenson H.263;"),
            (9, "90 00 'zz' 7F", "the video is ?zz?;"), (8, "90 'Opus'", "the audio is Opus; set the encoder to AAC"),
            (8, "D0 00", "the audio is Opus;"), (8, "3F 0102", "the audio is PCM;"), (8, "2F 00", "the audio is MP3;"),
            (8, "8F 00", "the audio is G.711;"), (8, "90 '.mp3'", "the audio is MP3;"),
        ] as [(UInt8, String, String)])
    func otherCodecs(type: UInt8, text: String, reason: String) throws {
        let (frames, record) = try stream()
        var client = try RTMPTestClient.publishing()
        // In the middle, too.
        try client.send(message(9, on: 6, bytes("17 00 000000") + record) + Written.soundConfiguration)
        try client.send(message(9, on: 6, bytes("17 01 000000") + prefixed(frames[0])))
        #expect(client.pictures.count == 1 && client.closing == nil)
        try client.send(message(type, bytes(text)))
        let closing = try #require(client.closing)
        #expect(closing.hasPrefix(reason))
        let answer = String(decoding: client.answers, as: UTF8.self)
        #expect(answer.contains("NetStream.Publish.Rejected") && answer.contains(closing))
        #expect(!client.conversation.isPublishing)
    }

    @Test(
        "a configuration or a picture that is cut off ends the connection",
        arguments: [
            "17", "17 00", "90 'av'", "17 01 0000", "17 00 000000 0164", "17 00 000000 02 64000B FF E0 00",
            "17 00 000000 01 64000B FE E0 00", "17 00 000000 01 64000B FF E1 0017 67",
            "17 01 000000 00000005 65 88", "17 01 000000 0000",
        ])
    func faults(text: String) throws {
        var client = try RTMPTestClient.publishing()
        try client.send(Written.pictureConfiguration)
        #expect(throws: RTMPError.self) { try client.send(message(9, on: 6, bytes(text))) }
        let hasMore = try client.conversation.next() != nil
        #expect(!hasMore)
    }

    @Test("empty messages, commands for players and more NAL units than a picture has are no pictures")
    func nothing() throws {
        var client = try RTMPTestClient.publishing()
        try client.send(Written.pictureConfiguration)
        for text in ["", "57 00", "17 02 000000", "17 01 000000 00000000"] { try client.send(message(9, bytes(text))) }
        try client.send(message(8, []))
        #expect(client.media.isEmpty)
        #expect(throws: RTMPError.tooLarge("a picture with more than 1024 NAL units")) {
            try client.send(message(9, bytes("17 01 000000") + (0..<1025).flatMap { _ in bytes("00000001 65") }))
        }
    }

    @Test("changed bytes never trap")
    func mutations() throws {
        let (frames, record) = try stream()
        let parts = [
            Written.connect, Written.releaseStream, Written.createStream, Written.publish, Written.description,
            Written.soundConfiguration, message(9, on: 6, bytes("17 00 000000") + record),
            message(8, at: 23, bytes("AF 01 0102")), message(9, on: 6, bytes("17 01 000000") + prefixed(frames[0])),
        ]
        let whole = parts.flatMap { $0 }
        var random = SeededRandom(seed: 42)
        for _ in 0..<2000 {
            let changed = random.mutation(of: whole)
            var client = try RTMPTestClient()
            do {
                try client.send(changed, step: Int.random(in: 1...2000, using: &random))
            } catch {
                #expect(!"\(error)".isEmpty)
            }
        }
    }
}
