import ByteCoding
import CaptureLink
import MediaTypes
import Recording
import Replaying
import TestSupport
import Testing

@Suite("The script of a cut recording")
struct ReplayCutTests {
    @Test("cut at each of its first 4,096 bytes and at 1,000 random ones, what is whole goes out, and nothing else")
    func cuts() throws {
        var sample = SampleRecording()
        sample.add(.connection, at: .zero)
        sample.add(.hello(Hello(role: .capture, name: "c", processID: 1, makesKeyFrames: true)), at: .zero)
        for number in 0..<90 {
            try sample.addPicture(
                UInt64(number), isIDR: number % 7 == 0, at: .milliseconds(Int64(number) * 33), capture: Int64(number))
        }
        let (bytes, ends) = recorded(sample.items)
        #expect(bytes.count > 8192)
        var script = ReplayScript(period: .milliseconds(33))
        let whole = SampleRecording.play(sample.items, &script)
        var random = SeededRandom(seed: 3)
        let cuts = Array(1...4096) + (0..<1000).map { _ in Int.random(in: 4096..<bytes.count, using: &random) }
        for cut in cuts {
            // What is shorter than its magic is no recording, and refused by name.
            guard let form = try? RecordedForm(front: Array(bytes[..<cut])), form == .recording else {
                #expect(cut < 16)
                continue
            }
            var stream = RecordedStream(form: form)
            stream.push(bytes[..<cut])
            stream.finish()
            var items: [RecordedItem] = []
            while let item = stream.next() { items.append(item) }
            var script = ReplayScript(period: .milliseconds(33))
            let steps = SampleRecording.play(items, &script)
            #expect(steps.count <= whole.count && zip(steps, whole).allSatisfy { $0.bytes == $1.bytes })
            #expect(items.count == ends.prefix { $0 <= cut }.count)
            if !ends.contains(cut), cut > RecordingHeader(start: .zero, wallClock: 0).bytes.count {
                let fault = try #require(stream.fault)
                #expect(fault.isCut)
                #expect(fault.offset == ends.last { $0 <= cut }.map(UInt64.init) ?? fault.offset)
            }
        }
    }

    /// The bytes of a recording of `items`, and where each of them ends.
    private func recorded(_ items: [RecordedItem]) -> (bytes: [UInt8], ends: [Int]) {
        let header = RecordingHeader(start: .zero, wallClock: 0)
        let recorder = RecordingWriter(header: header)
        var writer = ByteWriter(capacity: 1 << 16)
        writer.append(header.bytes)
        var ends: [Int] = []
        for item in items {
            let time = MonotonicTime.zero + (item.arrival ?? .zero)
            switch item.content {
            case .connection: recorder.appendConnection(at: time, to: &writer)
            case .message(let message, let direction):
                recorder.appendHeader(
                    of: message.bytes[...], form: message.form, direction: direction, at: time, to: &writer)
                writer.append(message.bytes)
            default: continue
            }
            ends.append(writer.count)
        }
        return (writer.bytes, ends)
    }
}
