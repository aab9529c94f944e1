import Testing

@testable import RTMP

@Suite("Chunks of RTMP")
struct ChunkReaderTests {
    private func messages(_ bytes: [UInt8], step: Int = 1 << 20) throws(RTMPError) -> [RTMPMessage] {
        var reader = ChunkReader()
        var found: [RTMPMessage] = []
        for start in stride(from: 0, to: bytes.count, by: step) {
            reader.append(bytes[start..<min(start + step, bytes.count)])
            while let message = try reader.next() { found.append(message) }
        }
        return found
    }

    private func times(_ bytes: [UInt8]) throws(RTMPError) -> [UInt32] { try messages(bytes).map(\.timestamp) }

    @Test("become messages, however they are cut and mixed", arguments: [1, 2, 5, 1000])
    func mixed(step: Int) throws {
        let sound = [UInt8](0..<200)
        let picture = [UInt8](repeating: 7, count: 300)
        // A message of sound between the chunks of a picture, each in chunks of 128 bytes.
        var mixed = bytes("06 000010 00012C 09 01000000")
        mixed += picture[..<128]
        mixed += bytes("44 000005 0000C8 08")
        mixed += sound[..<128]
        mixed.append(0xC6)
        mixed += picture[128..<256]
        mixed.append(0xC4)
        mixed += sound[128...]
        mixed.append(0xC6)
        mixed += picture[256...]
        let found = try messages(mixed, step: step)
        #expect(
            found == [
                RTMPMessage(type: 8, timestamp: 5, stream: 0, payload: sound),
                RTMPMessage(type: 9, timestamp: 0x10, stream: 1, payload: picture),
            ])
    }

    @Test("have headers of four forms, each with less than the one before")
    func forms() throws {
        let found = try messages(
            bytes("04 000064 000001 08 01000000 A0  44 000017 000002 09 A1A2  84 000005 A3A4  C4 A5A6"))
        #expect(found.map(\.timestamp) == [100, 123, 128, 133])
        #expect(found.map(\.type) == [8, 9, 9, 9])
        #expect(found.map(\.stream) == [1, 1, 1, 1])
        #expect(found.map(\.payload) == [[0xA0], [0xA1, 0xA2], [0xA3, 0xA4], [0xA5, 0xA6]])
    }

    @Test("repeat the time of form 0 as a difference")
    func repeatedTime() throws {
        #expect(try times(bytes("04 000017 000001 08 01000000 A0 C4 A1 C4 A2")) == [23, 46, 69])
    }

    @Test("may have long numbers of chunk streams")
    func longNumbers() throws {
        let found = try messages(
            bytes("00 05 000001 000001 08 01000000 A0  01 0500 000002 000001 09 01000000 A1  80 05 000001 A2"))
        // The two first ones are the same chunk stream, 69, in two forms.
        #expect(found.map(\.timestamp) == [1, 2, 3])
        #expect(found.map(\.type) == [8, 9, 9])
        let far = try messages(bytes("01 FFFF 000001 000000 08 01000000"))
        #expect(far == [RTMPMessage(type: 8, timestamp: 1, stream: 1, payload: [])])
    }

    @Test("have long times, which further chunks repeat or leave out, and which wrap")
    func longTimes() throws {
        let payload = [UInt8](repeating: 9, count: 130)
        for repeated in ["FFFFFFF0", ""] {
            var sent = bytes("04 FFFFFF 000082 08 01000000 FFFFFFF0")
            sent += payload[..<128]
            sent += bytes("C4" + repeated)
            sent += payload[128...]
            sent += bytes("84 000020")
            sent += payload[..<128]
            sent.append(0xC4)
            sent += payload[128...]
            let found = try messages(sent)
            #expect(found.map(\.timestamp) == [0xFFFF_FFF0, 0x10])
            #expect(found.map(\.payload) == [payload, payload])
        }
    }

    @Test("have the size that the sender has announced")
    func sizes() throws {
        let payload = [UInt8](repeating: 3, count: 5000)
        for size in [1, 4096, 60_000] {
            var sent = bytes("02 000000 000004 01 00000000")
            sent += bigEndian(size, 4)
            sent += message(9, size: size, payload)
            let found = try messages(sent)
            #expect(found.map(\.payload) == [payload])
        }
    }

    @Test("of an aborted message are forgotten")
    func abort() throws {
        var sent = bytes("04 000001 0000C8 08 01000000")
        sent += [UInt8](repeating: 1, count: 128)
        sent += bytes("02 000000 000004 02 00000000 00000004  44 000001 000001 09 A1")
        let found = try messages(sent)
        #expect(found == [RTMPMessage(type: 9, timestamp: 2, stream: 1, payload: [0xA1])])
    }

    @Test(
        "are refused before memory is taken for them",
        arguments: [
            // 8 MiB and a byte of video, 64 KiB and a byte of audio, 16 KiB and a byte of a command.
            "04 000000 800001 09 01000000", "04 000000 010001 08 01000000", "03 000000 004001 14 00000000",
            // No chunk size, or one that isn't one.
            "02 000000 000004 01 00000000 00000000", "02 000000 000004 01 00000000 80000000",
            "02 000000 000001 01 00000000 00", "02 000000 000003 02 00000000 000000",
            // A chunk stream that begins without a length, and a message within another one.
            "84 000001", "C4",
            "04 000001 0000C8 08 01000000" + String(repeating: "00", count: 128) + "44 000001 000001 09",
        ] as [String])
    func faults(text: String) {
        var reader = ChunkReader()
        reader.append(bytes(text)[...])
        #expect(throws: RTMPError.self) { while try reader.next() != nil {} }
        #expect(reader.keptCount < 256)
    }

    @Test("keep no more than their limit of unfinished messages, on few chunk streams")
    func unfinished() throws {
        var reader = ChunkReader()
        reader.unfinishedLimit = RTMPLimits.unfinished
        let part = [UInt8](repeating: 0, count: 4 << 20)
        var kept = 0
        #expect(throws: RTMPError.self) {
            for stream in 4..<10 as Range<UInt8> {
                // Half of the largest message, in a chunk of 4 MiB.
                reader.append(bytes("02 000000 000004 01 00000000 00400000")[...])
                reader.append([stream])
                reader.append(bytes("000000 800000 09 01000000")[...])
                reader.append(part[...])
                while try reader.next() != nil {}
                kept = reader.keptCount
            }
        }
        #expect(kept == 8 << 20)
        #expect(throws: RTMPError.tooLarge("more than 16 chunk streams")) {
            for stream in 3..<63 as Range<UInt8> {
                _ = try messages((3...stream).flatMap { [$0] + bytes("000000 000000 08 01000000") })
            }
        }
    }

    @Test("of a client that doesn't publish yet keep no more than a command")
    func early() {
        var reader = ChunkReader()
        // A message of video in chunks of 128 bytes.
        reader.append(bytes("04 000000 800000 09 01000000")[...])
        #expect(throws: RTMPError.tooLarge("unfinished messages of more than 16384 bytes")) {
            while true {
                reader.append(([UInt8](repeating: 0, count: 128) + [0xC4])[...])
                while try reader.next() != nil {}
            }
        }
        #expect(reader.keptCount <= 16_384 + 129)
    }

    @Test("that we send are read the same")
    func ours() throws {
        let payload = [UInt8](repeating: 5, count: 10_000)
        let sent = RTMPMessage(.command, stream: 1, payload)
        let size = RTMPMessage(.setChunkSize, bigEndian(RTMPMessage.ownChunkSize, 4))
        #expect(try messages(size.chunks + sent.chunks) == [sent])
    }
}
