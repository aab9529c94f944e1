import CaptureLink
import H264
import MediaTypes
import Recording
import Replaying
import TestSupport
import Testing

@Suite("The script of a replay")
struct ReplayScriptTests {
    private let period = Interval.seconds(1) / 30

    /// Hello, size, and four pictures of which the first and the third are IDR pictures; a second apart.
    private func sample() throws -> SampleRecording {
        var sample = SampleRecording()
        sample.add(.connection, at: .zero)
        sample.add(.hello(Hello(role: .capture, name: "c", processID: 1, makesKeyFrames: true)), at: .milliseconds(1))
        sample.add(.size(PictureSize(width: 64, height: 48)), at: .milliseconds(1))
        for number in 0..<4 {
            try sample.addPicture(
                UInt64(number), isIDR: number % 2 == 0, at: .seconds(Int64(number)), capture: 1000 + Int64(number))
        }
        sample.add(.statistics(CaptureStatistics()), at: .seconds(3))
        sample.add(.end(EndNotice(reason: .stopped, text: "")), at: .seconds(4))
        sample.add(.end, at: .seconds(4))
        return sample
    }

    @Test("the first pass is what was recorded, byte for byte and in order, but for hello and end")
    func exact() throws {
        let sample = try sample()
        var script = ReplayScript(period: period)
        let steps = SampleRecording.play(sample.items, &script)
        let wanted = sample.items.compactMap(\.messageBytes).filter { $0[1] != 1 && $0[1] != 5 }
        #expect(steps.map(\.bytes) == wanted)
        #expect(steps.compactMap(\.picture) == [1, 2, 3, 4])
        #expect(steps.last?.time == .seconds(3))
    }

    @Test("a second pass has the same payloads under an epoch of its own")
    func loops() throws {
        let sample = try sample()
        var script = ReplayScript(period: period)
        let first = SampleRecording.play(sample.items, &script, pass: 7)
        let second = SampleRecording.play(sample.items, &script, pass: 8)
        #expect(first.map(\.payload) == second.map(\.payload))
        #expect(first.map(\.time) == second.map(\.time))
        let epochs = Set(second.compactMap(\.header?.epoch))
        #expect(epochs.count == 1)
        #expect(epochs.isDisjoint(with: [0, sample.encoder.epoch]))
        #expect(first.map { $0.bytes.prefix(32) } == second.map { $0.bytes.prefix(32) })
    }

    @Test("from a time on begins with the IDR picture before it, behind what was said of the picture until then")
    func seeks() throws {
        let sample = try sample()
        var seek = ReplaySeek(for: .milliseconds(3500), period: period)
        for item in sample.items { seek.take(item) }
        let start = try #require(seek.start)
        #expect(start.time == .seconds(2))
        #expect(seek.duration == .seconds(4))
        var script = ReplayScript(period: period, start: start)
        let steps = SampleRecording.play(sample.items, &script)
        #expect(steps.map(\.kind) == [.size, .picture, .unit, .unit, .unit, .picture, .unit, .statistics])
        #expect(steps.allSatisfy { $0.time >= .seconds(2) })
        #expect(steps.compactMap(\.picture) == [3, 4])
        #expect(!steps.contains { $0.header?.epoch == sample.encoder.epoch })
    }

    @Test("behind a NAL unit a gigabyte of zeros is not kept until the next one comes")
    func zeros() {
        var script = ReplayScript(period: period)
        script.beginPass(5)
        let unit = AnnexBNALUnit(payload: AnnexB.startCode + [0x65, 0x88, 1], hasShortStartCode: false)
        let zeros = RecordedItem(
            offset: 0, byteCount: 32 << 10, arrival: nil, content: .otherBytes([UInt8](repeating: 0, count: 32 << 10)))
        script.take(RecordedItem(offset: 0, byteCount: 7, arrival: nil, content: .nalUnit(unit)))
        var (taken, given) = (0, 0)
        for _ in 0..<1000 {
            taken += 1
            script.take(zeros)
            while let step = script.next() {
                if step.kind == .unit { #expect(step.header?.flags == .endOfFrame) } else { given += 1 }
            }
            #expect(taken - given <= 3)
        }
        script.endPass()
        #expect(given == 1000)
    }

    @Test("before the first IDR picture there is none to begin with")
    func seeksTooEarly() throws {
        var sample = SampleRecording()
        try sample.addPicture(0, isIDR: false, at: .zero, capture: 1)
        try sample.addPicture(1, isIDR: true, at: .seconds(2), capture: 2)
        var seek = ReplaySeek(for: .seconds(1), period: period)
        for item in sample.items { seek.take(item) }
        #expect(seek.start == nil)
    }

    @Test("a pass after one that ended in a pause of the sharer says first that it shares")
    func sharing() throws {
        var sample = try sample()
        sample.add(.sharing(.paused), at: .seconds(5))
        var script = ReplayScript(period: period)
        #expect(SampleRecording.play(sample.items, &script).first?.kind == .size)
        let second = SampleRecording.play(sample.items, &script)
        #expect(second.first?.kind == .sharing)
        #expect(second.first?.payload == [SharingState.live.rawValue])
        #expect(second.first?.time == second.dropFirst().first?.time)
    }

    @Test("a pause holds no longer than the connection on which it was said, as with a capture that comes again")
    func pausedConnection() throws {
        var sample = SampleRecording()
        sample.add(.connection, at: .zero)
        try sample.addPicture(0, isIDR: true, at: .zero, capture: 1)
        sample.add(.sharing(.locked), at: .seconds(1))
        sample.add(.connection, at: .seconds(2))
        try sample.addPicture(1, isIDR: true, at: .seconds(2), capture: 2)
        sample.add(.connection, at: .seconds(3))
        try sample.addPicture(2, isIDR: true, at: .seconds(3), capture: 3)
        func sharing(_ steps: [ReplayStep]) -> [(UInt8?, Interval)] {
            steps.filter { $0.kind == .sharing }.map { ($0.payload.first, $0.time) }
        }
        var script = ReplayScript(period: period)
        let steps = SampleRecording.play(sample.items, &script)
        #expect(sharing(steps).map(\.0) == [SharingState.locked.rawValue, SharingState.live.rawValue])
        #expect(sharing(steps).last?.1 == .seconds(2))
        // In front of the new connection's first message.
        let place = try #require(steps.lastIndex { $0.kind == .sharing })
        #expect(steps[place + 1].picture == 2)
        #expect(sharing(SampleRecording.play(sample.items, &script)).count == 2)

        var seek = ReplaySeek(for: .seconds(2), period: period)
        for item in sample.items { seek.take(item) }
        var late = ReplayScript(period: period, start: seek.start)
        #expect(sharing(SampleRecording.play(sample.items, &late)).isEmpty)
    }

    @Test("a pass from the middle of a pause on, behind one that ended paused, ends with what holds there")
    func pausedStart() throws {
        var sample = try sample()
        sample.add(.sharing(.paused), at: .seconds(4))
        try sample.addPicture(4, isIDR: true, at: .seconds(5), capture: 1004)
        var seek = ReplaySeek(for: .seconds(5), period: period)
        for item in sample.items { seek.take(item) }
        var script = ReplayScript(period: period, start: seek.start)
        for _ in 0..<3 {
            let states = SampleRecording.play(sample.items, &script).filter { $0.kind == .sharing }.map(\.payload)
            #expect(states.last == [SharingState.paused.rawValue])
        }
    }

    @Test("what a host has said, tokens and clocks are left out; kinds of a later version are not")
    func kinds() throws {
        var sample = SampleRecording()
        for kind in UInt8(9)...40 {
            var bytes = sample.encoder.encode(.requestKeyFrame)
            bytes[1] = kind
            sample.add(bytes, .extended, at: .zero)
        }
        var script = ReplayScript(period: period)
        let kinds = SampleRecording.play(sample.items, &script).compactMap(\.header?.kindCode)
        #expect(kinds == [11] + Array(13...31))
    }

    @Test("a long pause of a dump, which has no times but those of capture, is ten seconds, once")
    func longPause() throws {
        var sample = SampleRecording()
        let pause = 3_600_000_000_000
        for number in 0..<6 {
            let capture = 1 + number * 33_000_000 + (number < 3 ? 0 : pause)
            try sample.addPicture(UInt64(number), isIDR: number % 3 == 0, at: nil, capture: Int64(capture))
        }
        var script = ReplayScript(period: period)
        let steps = SampleRecording.play(sample.items, &script)
        var times: [Interval] = []
        for step in steps where step.header?.kind == .unit && step.header?.flags == .endOfFrame {
            times.append(step.time)
        }
        let apart = zip(times.dropFirst(), times).map { ($0 - $1).milliseconds }
        #expect(apart == [33, 33, 10_000, 33, 33])
    }

    @Test("one wrong capture time of a dump costs ten seconds, and the pace of what follows goes on")
    func wrongTime() throws {
        var sample = SampleRecording()
        for number in 0..<6 {
            let capture = 1 + number * 33_000_000 + (number == 2 ? 3_600_000_000_000 : 0)
            try sample.addPicture(UInt64(number), isIDR: number == 0, at: nil, capture: Int64(capture))
        }
        var script = ReplayScript(period: period)
        let steps = SampleRecording.play(sample.items, &script)
        var times: [Interval] = []
        for step in steps where step.header?.kind == .unit { times.append(step.time) }
        let apart = zip(times.dropFirst(), times).map { ($0 - $1).milliseconds }
        #expect(apart == [0, 0, 33, 10_000, 0, 33, 33])
    }

    @Test(
        "a legacy stream gets headers that say where its access units end",
        arguments: [HeaderFormat.legacy40, .legacy16])
    func legacy(form: HeaderFormat) throws {
        var sample = SampleRecording()
        let units: [[UInt8]] = [[0x67, 1], [0x68, 2], [0x65, 3], [0x67, 1], [0x68, 2], [0x65, 4]]
        for unit in units {
            let payload = AnnexB.startCode + unit
            let header = try MessageEncoder(form: form, epoch: 0)
                .unitHeader(payloadCount: payload.count, captureTime: nil, endsFrame: false)
            sample.add(header + payload, form, at: nil)
        }
        var script = ReplayScript(period: period)
        let steps = SampleRecording.play(sample.items, &script)
        #expect(steps.map(\.payload) == units.map { AnnexB.startCode + $0 })
        #expect(steps.map { $0.header?.flags == .endOfFrame } == [false, false, true, false, false, true])
        #expect(steps.compactMap(\.picture) == [1, 2])
        #expect(steps.allSatisfy { $0.header?.captureTime == nil && $0.header?.epoch != 0 })
    }
}

@Suite("Replaying streams")
struct ReplayedStreamTests {
    @Test("every picture is a message's end, and is placed by the frame rate", arguments: TestStreams.all)
    func pictures(stream: TestStream) throws {
        let bytes = try stream.bytes()
        var sample = SampleRecording()
        for range in AnnexB.nalUnits(in: bytes) {
            sample.add(
                .nalUnit(AnnexBNALUnit(payload: AnnexB.startCode + bytes[range], hasShortStartCode: false)), at: nil)
        }
        let period = Interval.milliseconds(40)
        var script = ReplayScript(period: period)
        let steps = SampleRecording.play(sample.items, &script)
        // Judged by the assembler: what it makes of the file's bytes is what a host makes of the replay.
        var decoder = MessageDecoder(form: .extended)
        var assembler = FrameAssembler()
        for step in steps { decoder.push(step.bytes) }
        while let message = try decoder.next() { assembler.add(message, at: .zero) }
        assembler.finish()
        var units: [CodedFrame] = []
        while let unit = assembler.next() { units.append(unit.frame) }
        let wanted = AccessUnitBuilder.accessUnits(inAnnexB: bytes)
        #expect(units.map(\.bytes) == wanted.map(\.bytes))
        #expect(assembler.counters.missingEnds == 0)
        #expect(assembler.counters.cutOff == 0)
        #expect(steps.last?.time == period * Int64(script.pictures - 1))
    }
}
