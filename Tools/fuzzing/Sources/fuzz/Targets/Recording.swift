import ByteCoding
import CaptureLink
import Exporting
import Inspection
import MediaTypes
import Recording
import Replaying

extension FuzzTarget {
    /// Files that can be replayed, read to their ends past any damage: inspected, exported and replayed.
    ///
    /// Checksums are hard to guess, so an input that doesn't begin like such a file becomes a list of records with
    /// correct checksums.
    static let recording = FuzzTarget(name: "recording", maxInput: 8192, vectors: "recording") { input in
        let isFile = (try? RecordedForm(front: input.prefix(RecordedForm.firstLook))) != nil
        let file = isFile ? input : madeRecording(of: ByteReader(input))
        guard let whole = items(of: file, pieceSize: file.count + 1) else { return }
        check(items(of: file, pieceSize: pieceSize(for: file)) == whole, "pieces give the same as the whole")
        inspect(whole, count: file.count)
        export(whole)
        replay(whole)
    }
}

/// Makes a recording with records of the kinds, times and lengths that the bytes say.
private func madeRecording(of bytes: ByteReader) -> [UInt8] {
    let recorder = RecordingWriter(header: RecordingHeader(start: .zero, wallClock: 0))
    var reader = bytes
    var writer = ByteWriter()
    var now = MonotonicTime.zero
    writer.append(recorder.header.bytes)
    while let kind = reader.uint8(), let time = reader.uint16() {
        now = kind & 0x80 == 0 ? now + .microseconds(Int64(time)) : now - .seconds(Int64(time) << 20)
        switch kind & 7 {
        case 0: recorder.appendConnection(at: now, to: &writer)
        case 1: recorder.appendEnd(at: now, to: &writer)
        case 2:
            guard let messages = reader.uint64(), let from = reader.uint64() else { break }
            let gap = RecordingGap(
                messages: messages, bytes: ~messages, from: Interval(nanoseconds: Int64(bitPattern: from)),
                to: Interval(nanoseconds: Int64(bitPattern: ~from)))
            recorder.appendGap(gap, at: now, to: &writer)
        case 3:
            guard let length = reader.uint8(), let message = reader.bytes(min(Int(length), reader.count)) else { break }
            recorder.appendHeader(
                of: message, form: HeaderFormat.allCases[Int(kind >> 3 & 3) % 3],
                direction: kind & 0x40 == 0 ? .toHost : .toCapture, at: now, to: &writer)
            writer.append(message)
        default:
            // Write a NAL unit or a packet of sound with a correct header, so that pictures and sound result.
            guard let length = reader.uint8(), let unit = reader.bytes(min(Int(length), reader.count)) else { break }
            var message = ByteWriter()
            MessageHeader(
                kindCode: 0, flags: MessageFlags(rawValue: kind >> 3 & 3), stream: kind & 7 == 7 ? 1 : 0,
                length: UInt64(unit.count) + 4,
                captureTime: kind & 0x20 == 0 ? nil : now, epoch: UInt64(kind >> 6 & 1) + 1
            ).encode(into: &message, form: .extended)
            message.append([0, 0, 0, 1])
            message.append(unit)
            recorder.appendHeader(of: message.bytes[...], form: .extended, at: now, to: &writer)
            writer.append(message.bytes)
        }
    }
    return writer.bytes
}

/// An item, or the fault in its place.
private enum Found: Equatable {
    case item(RecordedItem)
    case fault(RecordingError)
}

/// Reads everything that a file holds; returns nil if its beginning shows that it is not a recording.
private func items(of file: [UInt8], pieceSize: Int) -> [Found]? {
    guard let form = try? RecordedForm(front: file.prefix(RecordedForm.firstLook)) else { return nil }
    var stream = RecordedStream(form: form)
    var found: [Found] = []
    var end: UInt64 = 0
    func take() {
        while true {
            while let item = stream.next() {
                check(item.offset >= end, "items follow each other")
                end = item.offset + item.byteCount
                found.append(.item(item))
            }
            guard let fault = stream.fault else { break }
            found.append(.fault(fault))
            check(found.count <= 4 * file.count + 16, "reading a file comes to an end")
            stream.resumeAfterDamage()
        }
        // An Annex B file's start code of three bytes is kept as four.
        check(stream.keptBytes <= file.count + 1, "no more is kept than was read")
    }
    var rest = file[...]
    while !rest.isEmpty {
        stream.push(rest.prefix(pieceSize))
        rest = rest.dropFirst(pieceSize)
        take()
    }
    stream.finish()
    take()
    check(end <= UInt64(file.count), "no item ends behind the file")
    return found
}

private func inspect(_ found: [Found], count: Int) {
    var inspection = FileInspection()
    let table = InspectionTable(.messages)
    for element in found {
        switch element {
        case .item(let item): inspection.add(item)
        case .fault(let fault): inspection.add(fault)
        }
        for row in inspection.takeRows() { checkRow(row, table) }
    }
    inspection.end(at: UInt64(count), hasEnd: false)
    for row in inspection.takeRows() { checkRow(row, table) }
    check(isJSONLine(InspectionJSON.line(inspection.summary, form: nil)), "a summary in JSON is one line")
    _ = inspection.summary.text(form: nil)
}

private func checkRow(_ row: InspectedRow, _ table: InspectionTable) {
    check(isJSONLine(InspectionJSON.line(row)), "a row in JSON is one line")
    check(table.text(row).utf8.allSatisfy { isPrinted($0) || $0 == 0x0A }, "a row of the table is text")
}

private func isJSONLine(_ text: String) -> Bool { text.hasSuffix("\n") && text.utf8.dropLast().allSatisfy(isPrinted) }

/// Whether a byte is not a control character: what a sender wrote must not move a terminal's cursor.
private func isPrinted(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F }

private func timed(_ found: [Found]) -> (pictures: [TimedPictures.Picture], sounds: [TimedAudio]) {
    var timed = TimedPictures(framesPerSecond: 30)
    var pictures: [TimedPictures.Picture] = []
    var sounds: [TimedAudio] = []
    func drain() {
        while let picture = timed.next() { pictures.append(picture) }
        while let sound = timed.nextSound() { sounds.append(sound) }
    }
    for element in found {
        switch element {
        case .item(let item): timed.add(item)
        case .fault: timed.damaged()
        }
        drain()
    }
    timed.finish()
    drain()
    return (pictures, sounds)
}

private func export(_ found: [Found]) {
    let (pictures, sounds) = timed(found)
    var plan = ExportPlan()
    for picture in pictures {
        FuzzTarget.checkForm(of: picture.frame)
        plan.add(picture)
    }
    for sound in sounds { plan.add(sound) }
    check(plan.parts.count <= ExportPlan.partLimit, "there are no more parts than the limit")
    var pass = ExportPass(plan)
    var given: [ExportPass.Picture] = []
    for picture in pictures { given += pass.add(picture) }
    given += pass.finish()
    check(given.count <= plan.count, "a file has no more pictures than were planned")
    for picture in given { check(picture.decodingTime <= picture.presentationTime, "pictures are decoded in time") }
    for (picture, next) in zip(given, given.dropFirst()) where picture.part == next.part {
        check(picture.decodingTime <= next.decodingTime, "pictures are decoded in their order")
    }
    exportSound(sounds, plan, beside: given)
}

private func exportSound(_ sounds: [TimedAudio], _ plan: ExportPlan, beside pictures: [ExportPass.Picture]) {
    var pass = AudioPass(plan)
    for sound in sounds { pass.add(sound) }
    var last: AudioPass.Packet?
    // Silence may be hours long.
    func write() {
        for _ in 0..<1000 {
            guard let packet = pass.next() else { return }
            check(plan.parts[packet.part].soundChannels > 0, "only a part with sound has packets")
            check(packet.time >= .zero, "sound begins with its part")
            if let last, last.part == packet.part { check(packet.time >= last.time, "packets are in order") }
            last = packet
        }
    }
    for picture in pictures {
        pass.reach(part: picture.part, decodingTime: picture.decodingTime)
        write()
    }
    pass.finish()
    write()
}

private func replay(_ found: [Found]) {
    var seek = ReplaySeek(for: .milliseconds(500), period: .milliseconds(33))
    for case .item(let item) in found { seek.take(item) }
    for start in [nil, seek.start] {
        var script = ReplayScript(period: .milliseconds(33), start: start)
        for pass in 1...2 {
            script.beginPass(UInt64(pass))
            var decoder = MessageDecoder(form: .extended)
            for case .item(let item) in found {
                script.take(item)
                while let step = script.next() { push(step, to: &decoder) }
            }
            script.endPass()
            while let step = script.next() { push(step, to: &decoder) }
        }
    }
}

/// Checks that a replay sends whole messages.
private func push(_ step: ReplayStep, to decoder: inout MessageDecoder) {
    check(LinkBytes(step.bytes, form: .extended) != nil, "a replay sends whole messages")
    decoder.push(step.bytes)
    while (try? decoder.next()) != nil {}
}
