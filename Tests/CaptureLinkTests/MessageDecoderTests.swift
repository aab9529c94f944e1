import CaptureLink
import MediaTypes
import TestSupport
import Testing

@Suite("Reading messages")
struct MessageDecoderTests {
    @Test("a length beyond the limit is told as soon as it is there, whatever form the connection has")
    func earlyLength() {
        let bytes: [UInt8] = [0x26, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]
        #expect(decode(Array(bytes.dropLast())).error == nil)
        #expect(decode(bytes).error == .unitTooLong(length: 0xFFFF_FFFF, limit: 8 << 20, offset: 0))
        #expect(decode(bytes, piece: 1).error == .unitTooLong(length: 0xFFFF_FFFF, limit: 8 << 20, offset: 0))
    }

    @Test("every control message of the vectors is read, with its header")
    func controlMessages() throws {
        for (name, message, epoch, time) in LinkVectors.controlMessages {
            let (messages, error) = decode(try LinkVectors.bytes(name))
            #expect(error == nil)
            #expect(messages.map(\.body) == [message])
            #expect(messages.first?.header.epoch == epoch)
            #expect(messages.first?.header.captureTime == time)
            #expect(messages.first?.form == .extended)
        }
    }

    @Test("our NAL units have time, epoch and the flag of the last one")
    func extended() throws {
        let (messages, error) = decode(try LinkVectors.bytes("access-unit"))
        #expect(error == nil)
        #expect(messages.map(\.body) == [LinkVectors.sps, LinkVectors.pps, LinkVectors.idr].map(LinkMessage.unit))
        #expect(messages.map { $0.header.flags.contains(.endOfFrame) } == [false, false, true])
        #expect(messages.allSatisfy { $0.header.captureTime == LinkVectors.time })
        #expect(messages.allSatisfy { $0.header.epoch == LinkVectors.epoch && $0.form == .extended })
    }

    @Test("flags that this version doesn't know change nothing")
    func unknownFlags() throws {
        let bytes = try LinkVectors.bytes("access-unit")
        let known = decode(bytes).messages
        var flagged = bytes
        var offset = 0
        for message in known {
            flagged[offset + 2] |= 0xFC
            offset += 40 + Int(message.header.length)
        }
        #expect(offset == bytes.count)
        let (messages, error) = decode(flagged)
        #expect(error == nil)
        #expect(messages.map(\.body) == known.map(\.body))
        #expect(messages.map { $0.header.flags.contains(.endOfFrame) } == [false, false, true])
        #expect(!messages.contains { $0.header.flags.contains(.shortStartCode) })
        var assembler = FrameAssembler()
        for message in messages { assembler.add(message, at: .zero) }
        let ready = assembler.next()
        #expect(ready?.frame.bytes == LinkVectors.sps + LinkVectors.pps + LinkVectors.idr)
        #expect(assembler.next() == nil)
        #expect(assembler.faults == 0)
    }

    @Test("each reason of an end has its number in Protocol/capture-link.md, and any other number is another reason")
    func endReasons() {
        let reasons: [(UInt8, EndReason)] = [
            (0, .stopped), (1, .displayLost), (2, .windowClosed), (3, .encoderFailed), (4, .refused),
            (5, .versionMismatch), (6, .protocolError), (7, .endOfRecording), (8, .unauthorised), (255, .other),
        ]
        #expect(Set(reasons.map(\.1)) == Set(EndReason.allCases))
        let encoder = MessageEncoder(epoch: 1)
        for (code, reason) in reasons {
            let end = LinkMessage.end(EndNotice(reason: reason, text: ""))
            let bytes = encoder.encode(end)
            #expect(bytes[40] == code)
            #expect(decode(bytes).messages.map(\.body) == [end])
        }
        var bytes = encoder.encode(.end(EndNotice(reason: .stopped, text: "")))
        bytes[40] = 9
        #expect(decode(bytes).messages.map(\.body) == [.end(EndNotice(reason: .other, text: ""))])
    }

    @Test("sound is on stream 1, and does not become part of a picture")
    func sound() throws {
        let (messages, error) = decode(try LinkVectors.bytes("sound"))
        #expect(error == nil)
        #expect(messages.map(\.body) == [.format(.opus), .unit(LinkVectors.packet)])
        #expect(messages.allSatisfy { $0.header.stream == 1 && $0.header.epoch == LinkVectors.epoch })
        #expect(messages.last?.header.captureTime == LinkVectors.time)
        var assembler = FrameAssembler()
        for message in messages { assembler.add(message, at: .zero) }
        #expect(assembler.next() == nil)
        #expect(assembler.otherStreamMessages == 2 && assembler.faults == 0)
    }

    @Test("both legacy forms are told by their first message", arguments: [HeaderFormat.legacy40, .legacy16])
    func legacy(form: HeaderFormat) throws {
        let (messages, error) = decode(try LinkVectors.bytes(form == .legacy40 ? "legacy40" : "legacy16"))
        #expect(error == nil)
        #expect(
            messages.map(\.body)
                == [LinkVectors.sps, LinkVectors.pps, LinkVectors.idr, LinkVectors.slice1].map(LinkMessage.unit))
        #expect(messages.allSatisfy { $0.form == form && $0.header.captureTime == nil && $0.header.epoch == 0 })
    }

    @Test("a connection keeps its form, whatever a later header holds")
    func formIsKept() throws {
        let ours = try LinkVectors.bytes("request-key-frame")
        let (messages, error) = decode(try LinkVectors.bytes("legacy40") + ours)
        #expect(messages.count == 4)
        #expect(error == .unitTooShort(length: 0, offset: 233))
    }

    @Test("a kind that this version doesn't know is passed over and counted")
    func unknownKinds() throws {
        var decoder = MessageDecoder()
        decoder.push(try LinkVectors.bytes("unknown-kind"))
        #expect(try decoder.next()?.body == .requestKeyFrame)
        #expect(try decoder.next() == nil)
        #expect(decoder.skippedCount == 1)
        #expect(decoder.messageCount == 2)
        #expect(decoder.byteCount == 83)
    }

    @Test("fields that a later version appends are passed over")
    func laterVersions() throws {
        let (messages, error) = decode(try LinkVectors.bytes("longer-hello"))
        #expect(error == nil)
        #expect(
            messages.map(\.body) == [
                .hello(Hello(role: .capture, name: "later", processID: 4242, makesKeyFrames: true, version: 2))
            ])
    }

    @Test("statistics are read as far as they go: with what is recent, without it, and never with half of it")
    func statistics() throws {
        let bytes = try LinkVectors.bytes("statistics-recent")
        let payload = bytes.count - 40
        for count in 0...payload + 9 {
            var cut = Array(bytes.prefix(40 + count)) + [UInt8](repeating: 0xEE, count: max(0, count - payload))
            cut[8] = UInt8(count)
            let (messages, error) = decode(cut)
            guard count >= 72 else {
                #expect(messages.isEmpty && error != nil)
                continue
            }
            guard error == nil, case .statistics(let read)? = messages.first?.body else {
                Issue.record("\(count) bytes are no statistics")
                continue
            }
            #expect(read.residentBytes == 9)
            #expect((read.recent == nil) == (count < payload))
            #expect(read.recent.map(\.damagedMillionths) ?? 16 == 16)
        }
    }

    @Test("what is wrong with the bytes is told with its place")
    func errors() throws {
        func error(_ name: String) throws -> LinkError? { decode(try LinkVectors.bytes(name)).error }
        #expect(try error("bad-marker") == .notAMessage(offset: 40, found: 0x41))
        #expect(try error("bad-length") == .unitTooLong(length: 8_388_609, limit: 8_388_608, offset: 0))
        #expect(
            try error("bad-control-length")
                == .controlMessageTooLong(kindCode: 2, length: 65_537, limit: 65_536, offset: 0))
        #expect(try error("bad-short") == .unitTooShort(length: 4, offset: 0))
        #expect(try error("bad-start-code") == .startCodeMissing(offset: 0))
        #expect(try error("bad-hello").map { "\($0)" }?.contains("role 9") == true)
        #expect(try error("bad-size").map { "\($0)" }?.contains("0x1080") == true)
        #expect("\(LinkError.notAMessage(offset: 40, found: 5))".contains("byte 40 is 0x05"))
    }

    @Test("messages before an error are given first, and the error again and again")
    func errorOrder() throws {
        var decoder = MessageDecoder()
        decoder.push(try LinkVectors.bytes("bad-marker"))
        #expect(try decoder.next()?.body == .requestKeyFrame)
        for _ in 0..<2 {
            #expect(throws: LinkError.notAMessage(offset: 40, found: 0x41)) { try decoder.next() }
        }
        decoder.push(try LinkVectors.bytes("request-key-frame"))
        #expect(throws: LinkError.notAMessage(offset: 40, found: 0x41)) { try decoder.next() }
    }

    @Test("a byte that is no message is refused before more arrives")
    func firstByte() {
        #expect(decode([0x47]).error == .notAMessage(offset: 0, found: 0x47))
    }

    @Test("the largest length there is is refused and nothing is reserved", arguments: [UInt8(0), 1, 200])
    func enormousLength(kind: UInt8) {
        var header: [UInt8] = [0x26, kind, 1, 0, 0, 0, 0, 0]
        header += [UInt8](repeating: 0xFF, count: 8) + [UInt8](repeating: 0, count: 24)
        guard let error = decode(header).error else {
            Issue.record("no error")
            return
        }
        #expect("\(error)".contains("18446744073709551615"))
    }

    @Test("bytes give the same messages in pieces of any size", arguments: [1, 2, 7, 16, 39, 41])
    func pieces(size: Int) throws {
        for name in LinkVectors.all {
            let bytes = try LinkVectors.bytes(name)
            let whole = decode(bytes)
            let pieces = decode(bytes, piece: size)
            #expect(whole.messages == pieces.messages)
            #expect(whole.error == pieces.error)
        }
    }

    @Test("every prefix gives the messages that are whole, and an end inside a message is told")
    func prefixes() throws {
        for name in LinkVectors.all where !LinkVectors.broken.contains(name) {
            let bytes = try LinkVectors.bytes(name)
            let whole = decode(bytes).messages
            for end in 0..<bytes.count {
                var decoder = MessageDecoder()
                decoder.push(bytes[..<end])
                var count = 0
                while let message = try decoder.next() {
                    #expect(message == whole[count])
                    count += 1
                }
                let ended = (try? decoder.finish()) != nil
                #expect(ended == (end == 0 || decoder.byteCount == UInt64(end) && isBoundary(bytes, end)))
            }
            var decoder = MessageDecoder()
            decoder.push(bytes)
            try decoder.finish()
        }
    }

    /// Whether a message of `bytes` ends at `end`: the messages before it and behind it are whole.
    private func isBoundary(_ bytes: [UInt8], _ end: Int) -> Bool {
        var decoder = MessageDecoder()
        decoder.push(bytes[..<end])
        let before = decoder.messageCount
        decoder.push([0x25])
        // Only where a header should start is a byte that is not '&' an error at once.
        while true {
            do {
                guard try decoder.next() != nil else { return false }
            } catch {
                return error == .notAMessage(offset: UInt64(end), found: 0x25) && before == decoder.messageCount
            }
        }
    }

    @Test("no mutation brings anything down")
    func mutations() throws {
        var random = SeededRandom(seed: 5)
        for name in LinkVectors.all {
            let bytes = try LinkVectors.bytes(name)
            for _ in 0..<300 {
                let mutated = random.mutation(of: bytes)
                let whole = decode(mutated)
                let pieces = decode(mutated, piece: Int.random(in: 1...50, using: &random))
                #expect(whole.messages == pieces.messages)
                #expect(whole.error == pieces.error)
            }
        }
    }

    @Test("a NAL unit of 8 MiB in pieces of 4 KiB takes time in proportion to its length")
    func largeNALUnit() throws {
        let payload = LinkVectors.idr + [UInt8](repeating: 0x55, count: (8 << 20) - LinkVectors.idr.count)
        let encoder = MessageEncoder(epoch: 1)
        let header = try encoder.unitHeader(payloadCount: payload.count, captureTime: nil, endsFrame: true)
        let started = now()
        let (messages, error) = decode(header + payload, piece: 4 << 10)
        #expect(now() - started < .seconds(4))
        #expect(error == nil)
        #expect(messages.map(\.body) == [.unit(payload)])
    }
}
