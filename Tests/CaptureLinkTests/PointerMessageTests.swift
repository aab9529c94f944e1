import CaptureLink
import MediaTypes
import TestSupport
import Testing

@Suite("Messages of the pointer and of the sharer's pause")
struct PointerMessageTests {
    @Test("a pointer of more than 96 pixels a side, or with too few pixels, is refused by its size")
    func shapes() throws {
        func words(_ name: String) throws -> String {
            "\(String(describing: decode(try LinkVectors.bytes(name)).error))"
        }
        #expect(try words("bad-pointer-side").contains("97x1"))
        #expect(try words("bad-pointer-pixels").contains("too few bytes for a pointer of 96x96"))
        #expect(
            CursorImage(
                size: PictureSize(width: 97, height: 1), hotX: 0, hotY: 0, pixels: Array(repeating: 0, count: 97))
                == nil)
        #expect(CursorImage(size: PictureSize(width: 2, height: 2), hotX: 0, hotY: 0, pixels: [0, 0, 0]) == nil)
        #expect(CursorImage(size: PictureSize(width: -1, height: -1), hotX: 0, hotY: 0, pixels: [0]) == nil)
    }

    @Test("a code without a meaning, and a payload without its last byte, end the connection with words")
    func codes() throws {
        func words(_ name: String) throws -> String {
            "\(String(describing: decode(try LinkVectors.bytes(name)).error))"
        }
        #expect(try words("bad-pointer-mode").contains("2 has no meaning"))
        #expect(try words("bad-sharing").contains("4 has no meaning"))
        #expect(try words("bad-chroma").contains("9 has no meaning"))
        #expect(try words("bad-format").contains("255 has no meaning"))
        #expect(try words("bad-position").contains("4 bytes are too few"))
        #expect(try words("bad-pointing").contains("18 bytes are too few"))
        #expect(try words("bad-sharer-paused").contains("0 bytes are too few"))
    }

    @Test("every payload that is cut short is refused, and none that is longer", arguments: LinkVectors.newKinds)
    func lengths(name: String) throws {
        let bytes = try LinkVectors.bytes(name)
        let count = bytes.count - 40
        func message(_ payload: [UInt8]) -> [UInt8] {
            var header = Array(bytes[..<40])
            header[8] = UInt8(truncatingIfNeeded: payload.count)
            header[9] = UInt8(truncatingIfNeeded: payload.count >> 8)
            return header + payload
        }
        for length in 0..<count {
            #expect(decode(message(Array(bytes[40..<40 + length]))).error != nil, "\(name) of \(length) bytes")
        }
        let longer = decode(message(bytes[40...] + [1, 2, 3]))
        #expect(longer.error == nil)
        #expect(longer.messages.map(\.body) == decode(bytes).messages.map(\.body))
    }

    @Test("the largest pointer there may be fits into a message and comes out as it went in")
    func largest() throws {
        let side = CursorImage.maxSide
        let image = try #require(
            CursorImage(
                size: PictureSize(width: side, height: side), hotX: 95, hotY: 0,
                pixels: (0..<side * side).map { UInt32($0) &* 0x9E37_79B1 }))
        let (messages, error) = decode(MessageEncoder(epoch: 1).encode(.pointerShape(image)), piece: 1000)
        #expect(error == nil)
        #expect(messages.map(\.body) == [.pointerShape(image)])
    }

    @Test("a viewer's path and name are cut to what a message has room for, and its places to the picture")
    func longPath() throws {
        let place = ViewerPoint.Place(x: .max, y: .max)
        #expect(place == ViewerPoint.Place(fractions: 1, 1) && ViewerPoint.Place(fractions: 1.01, 0) == nil)
        #expect(ViewerPoint.Place(fractions: .nan, 0) == nil)
        let long = ViewerPoint(
            viewer: 1, name: String(repeating: "é", count: 200), place: nil, path: Array(repeating: place, count: 300))
        let (messages, error) = decode(MessageEncoder(epoch: 0).encode(.pointing(long)))
        #expect(error == nil)
        guard case .pointing(let point?)? = messages.first?.body else {
            Issue.record("no point came out")
            return
        }
        #expect(point.name == String(repeating: "é", count: 128) && point.path == Array(repeating: place, count: 255))
    }

    @Test("coordinates beyond 16 bits are clamped, not wrapped")
    func clamped() throws {
        let far = PointerPosition(x: 70_000, y: -70_000, isVisible: false)
        let (messages, _) = decode(MessageEncoder(epoch: 1).encode(.pointerPosition(far)))
        #expect(
            messages.map(\.body) == [.pointerPosition(PointerPosition(x: 32_767, y: -32_768, isVisible: false))])
    }

    @Test("a picture message of a sender that knows no flags has the pointer drawn in it, as far as anybody knows")
    func shortPicture() throws {
        let bytes = try LinkVectors.bytes("short-picture")
        guard case .picture(let notice)? = decode(bytes).messages.first?.body else {
            Issue.record("no picture message came out")
            return
        }
        #expect(notice.isPointerDrawn && notice.qp == 0 && notice.settling == .zero)
        #expect(notice.damage == PixelRectangle(x: 16, y: 32, width: 640, height: 360))
    }

    @Test("a picture message of a sender that knows no times has the rest, and times that can't be sent are unknown")
    func untimedPicture() throws {
        guard case .picture(var notice)? = decode(try LinkVectors.bytes("picture-untimed")).messages.first?.body else {
            Issue.record("no picture message came out")
            return
        }
        #expect(!notice.isPointerDrawn && notice.qp == 23 && notice.settling == .microseconds(1500))
        #expect(notice.waited == nil && notice.worked == nil)
        let (messages, error) = decode(MessageEncoder(epoch: 1).encode(.picture(notice)))
        #expect(error == nil && messages.map(\.body) == [.picture(notice)])
        #expect(!notice.isToBeRefined && !notice.isStale)
        for (isToBeRefined, isStale) in [(true, false), (true, true), (false, true), (false, false)] {
            (notice.isToBeRefined, notice.isStale) = (isToBeRefined, isStale)
            let (messages, _) = decode(MessageEncoder(epoch: 1).encode(.picture(notice)))
            #expect(messages.map(\.body) == [.picture(notice)])
        }
        (notice.waited, notice.worked) = (.seconds(5000), .zero)
        guard case .picture(let late)? = decode(MessageEncoder(epoch: 1).encode(.picture(notice))).messages.first?.body
        else {
            Issue.record("no picture message came out")
            return
        }
        #expect(late.waited == nil && late.worked == .zero)
    }
}

@Suite("The pointer's flag on access units")
struct PointerFlagTests {
    private func units(_ messages: [ReceivedMessage]) -> [CodedFrame] {
        var assembler = FrameAssembler()
        var units: [CodedFrame] = []
        for message in messages {
            assembler.add(message, at: .zero)
            while let unit = assembler.next() { units.append(unit.frame) }
        }
        assembler.finish()
        while let unit = assembler.next() { units.append(unit.frame) }
        return units
    }

    @Test("a picture is unchanged if its sender, which looks for changes, has found none")
    func unchanged() {
        let nothing = PixelRectangle(x: 0, y: 0, width: 0, height: 0)
        func picture(_ damage: PixelRectangle, worked: Interval?) -> ReceivedMessage {
            var notice = PictureNotice(sequenceNumber: 0, damage: damage)
            notice.worked = worked
            return ReceivedMessage(
                header: MessageHeader(kindCode: MessageKind.picture.rawValue, length: 32, epoch: 1), form: .extended,
                body: .picture(notice))
        }
        let units = units(
            [nalUnit(LinkVectors.sps), nalUnit(LinkVectors.pps), nalUnit(LinkVectors.idr, ends: true)]
                + [picture(nothing, worked: .milliseconds(3)), nalUnit(LinkVectors.slice1, ends: true)]
                + [picture(nothing, worked: nil), nalUnit(LinkVectors.slice2, ends: true)]
                + [
                    picture(PixelRectangle(x: 1, y: 2, width: 3, height: 4), worked: .milliseconds(3)),
                    nalUnit(LinkVectors.slice3, ends: true),
                ])
        #expect(units.map(\.isUnchanged) == [false, true, false, false])
        #expect(units.map(\.withoutCaptureTime.isUnchanged) == [false, true, false, false])
    }

    private func picture(drawn: Bool) -> ReceivedMessage {
        let notice = PictureNotice(
            sequenceNumber: 0, damage: PixelRectangle(x: 0, y: 0, width: 1, height: 1), isPointerDrawn: drawn)
        return ReceivedMessage(
            header: MessageHeader(kindCode: MessageKind.picture.rawValue, length: 24, epoch: 1), form: .extended,
            body: .picture(notice))
    }

    @Test("an access unit says what its picture message said, and one without such a message that it is drawn")
    func flags() {
        let sets = [nalUnit(LinkVectors.sps), nalUnit(LinkVectors.pps)]
        let units = units(
            [picture(drawn: false)] + sets + [nalUnit(LinkVectors.idr, ends: true)]
                + [picture(drawn: true), nalUnit(LinkVectors.slice1, ends: true)]
                + [picture(drawn: false), nalUnit(LinkVectors.slice2, ends: true)]
                + [nalUnit(LinkVectors.slice3, ends: true)])
        #expect(units.map(\.isPointerDrawn) == [false, true, false, true])
        #expect(units.first?.withoutCaptureTime.isPointerDrawn == false)
    }

    @Test("a notice whose picture could not be used says nothing of the next picture")
    func unusable() {
        let units = units([
            nalUnit(LinkVectors.sps), nalUnit(LinkVectors.pps), nalUnit(LinkVectors.idr, ends: true),
            picture(drawn: false), nalUnit([0, 0, 0, 1, 0x80], ends: true), nalUnit(LinkVectors.slice1, ends: true),
        ])
        #expect(units.map(\.isPointerDrawn) == [true, true])
    }

    @Test("a legacy sender's pictures have the pointer drawn in them")
    func legacy() {
        let units = units(
            [LinkVectors.sps, LinkVectors.pps, LinkVectors.idr].map { nalUnit($0, .legacy40) })
        #expect(units.map(\.isPointerDrawn) == [true])
    }
}
