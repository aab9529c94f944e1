import MediaTypes
import RTP
import TestSupport
import Testing

/// How often a viewer's picture freezes on a lossy path, in simulated time: the sender's decisions are ours, and the
/// viewer asks for packets as libwebrtc does. It requests what a gap shows at once, and every 20 ms whatever it last
/// requested a round trip ago; it shows pictures in order, each once all its packets and all before it are there. What
/// it does wrong with padding behind a gap (see `TailLossProbe`) counts as well.
struct RecoveryTests {
    struct Path: CustomTestStringConvertible {
        /// Percent of the packets lost towards the viewer, and back.
        var loss: Int
        var lossBack = 0
        /// The mean number of packets that are lost together (Gilbert-Elliott, counted in packets).
        var burst = 1
        var roundTrip: Int64 = 40
        /// How many packets a picture has.
        var packets = 2...6
        /// What the viewer takes the round trip to be; libwebrtc takes 100 ms if nobody answers its reference times.
        var assumedRoundTrip: Int64 = 40
        var hasSecondCopies = true
        /// Whether padding follows each picture on a lossy path.
        var hasPadding = true
        /// The most freezes a minute.
        var limit = 0.0

        var testDescription: String { "\(loss) % lost in bursts of \(burst), \(lossBack) % back" }
    }

    struct Figures {
        var freezesPerMinute = 0.0
        var lost = 0
        var resent = 0
        /// How often libwebrtc would show nothing more until the next key frame.
        var stops = 0
    }

    private struct Viewer {
        var received: Set<Int64> = []
        var highest: Int64 = -1
        /// The packets that are missing, and when each was last requested.
        var missing: [Int64: Int64] = [:]
        /// Padding that came behind a gap, and the packet that libwebrtc counts from.
        var padding: Set<Int64> = []
        var countsFrom: Int64 = 0

        /// Takes a packet of padding, where all before `complete` is there. Returns whether no picture is shown after
        /// it.
        mutating func receivePadding(_ number: Int64, complete: Int64) -> Bool {
            let isRestart = number - countsFrom > 10_000
            if isRestart { countsFrom = number }
            padding = padding.filter { $0 >= complete }
            let isForgotten = padding.contains { $0 < number - 100 }
            padding = padding.filter { $0 >= number - 100 }
            padding.insert(number)
            return isForgotten || isRestart && complete < number
        }

        /// Takes a packet; the packets to request now.
        mutating func receive(_ number: Int64, isRetransmission: Bool, at now: Int64) -> [Int64] {
            received.insert(number)
            missing[number] = nil
            // A retransmission shows no gap, even if it comes first.
            guard !isRetransmission, number > highest else { return [] }
            let new = (highest + 1..<number).filter { !received.contains($0) }
            highest = number
            for number in new { missing[number] = now }
            return new
        }

        mutating func overdue(at now: Int64, after interval: Int64) -> [Int64] {
            let due = missing.filter { now - $0.value >= interval }.keys.sorted()
            for number in due { missing[number] = now }
            return due
        }
    }

    /// Sends 30 pictures a second for that many minutes.
    private func run(_ path: Path, minutes: Int64 = 5, seed: UInt64 = 1) -> Figures {
        var random = SeededRandom(seed: seed)
        var sent = RTPPacketHistory()
        var responder = NackResponder()
        var duplicator = RetransmissionDuplicator()
        var viewer = Viewer()
        var figures = Figures()
        var next: Int64 = 0
        var lastOfPicture: [Int64] = []
        var padding: Set<Int64> = []
        var toViewer: [Int64: [(number: Int64, isRetransmission: Bool)]] = [:]
        var toSender: [Int64: [[Int64]]] = [:]
        var complete: Int64 = 0
        var shown = 0
        var shownAt: Int64 = 0
        var freezes = 0
        var period = (sent: 0, lost: 0)
        var isBad = false
        var probe = TailLossProbe(hasRetransmission: true)

        for now in 0..<(minutes * 60_000) {
            let time = MonotonicTime.zero + .milliseconds(now)
            func send(_ number: Int64, isRetransmission: Bool) {
                figures.resent += isRetransmission ? 1 : 0
                // All are lost in the bad state, none in the good one. Without bursts no packet depends on the one
                // before.
                let loss = Double(path.loss) / 100
                let (begins, lasts) =
                    path.burst == 1
                    ? (loss, loss) : (loss / (Double(path.burst) * (1 - loss)), 1 - 1 / Double(path.burst))
                isBad = Double.random(in: 0..<1, using: &random) < (isBad ? lasts : begins)
                let isLost = isBad
                figures.lost += isLost ? 1 : 0
                if !isRetransmission {
                    period.sent += 1
                    period.lost += isLost ? 1 : 0
                }
                if !isLost { toViewer[now + path.roundTrip / 2, default: []].append((number, isRetransmission)) }
            }
            func extended(_ number: SequenceNumber) -> Int64 {
                let newest = next - 1
                return newest + Int64(SequenceNumber(UInt16(truncatingIfNeeded: newest)).distance(to: number))
            }

            func sendNew(byteCount: Int = 1000) {
                sent.insert(
                    SentPacket(
                        sequenceNumber: SequenceNumber(UInt16(truncatingIfNeeded: next)), timestamp: RTPTimestamp(0),
                        payloadType: PayloadType(96), marker: false, extensions: [], content: .padding(0),
                        byteCount: byteCount))
                next += 1
                send(next - 1, isRetransmission: false)
            }

            if now % 100 == 0 || now % 100 == 33 || now % 100 == 66 {
                // Every 10 s a page turns.
                let count = now % 10_000 == 0 ? 120 : Int.random(in: path.packets, using: &random)
                for _ in 0..<count {
                    sendNew()
                    responder.noteMediaSent(byteCount: 1000, at: time)
                }
                lastOfPicture.append(next - 1)
                probe.pictureSent(
                    lastSequenceNumber: SequenceNumber(UInt16(truncatingIfNeeded: next - 1)), packetCount: count,
                    roundTripTime: .milliseconds(path.roundTrip), paddingRoom: path.hasPadding ? 10_000 : 0, at: time)
            } else if probe.poll(at: time) == .padding {
                padding.insert(next)
                sendNew(byteCount: 30)
                responder.noteProbeSent(byteCount: 30, at: time)
            }
            for requested in toSender.removeValue(forKey: now) ?? [] {
                let numbers = requested.map { SequenceNumber(UInt16(truncatingIfNeeded: $0)) }
                probe.requested(numbers, at: time)
                for packet in responder.answer(
                    numbers, from: sent, roundTripTime: .milliseconds(path.roundTrip), at: time)
                {
                    send(extended(packet.sequenceNumber), isRetransmission: true)
                    if path.hasSecondCopies { duplicator.retransmitted(packet.sequenceNumber, at: time) }
                }
            }
            while let number = duplicator.next(at: time) { send(extended(number), isRetransmission: true) }

            var requests: [[Int64]] = []
            for packet in toViewer.removeValue(forKey: now) ?? [] {
                requests.append(viewer.receive(packet.number, isRetransmission: packet.isRetransmission, at: now))
                while viewer.received.remove(complete) != nil { complete += 1 }
                if padding.contains(packet.number), viewer.receivePadding(packet.number, complete: complete) {
                    figures.stops += 1
                }
            }
            if now % 20 == 7 { requests.append(viewer.overdue(at: now, after: path.assumedRoundTrip)) }
            for request in requests where !request.isEmpty {
                guard Int.random(in: 0..<100, using: &random) >= path.lossBack else { continue }
                toSender[now + path.roundTrip / 2, default: []].append(request)
            }
            if now % 1000 == 999 {
                duplicator.reported(fractionLost: UInt8(clamping: period.lost * 256 / max(1, period.sent)))
                period = (0, 0)
            }

            let before = shown
            while shown < lastOfPicture.count, lastOfPicture[shown] < complete {
                if shown == 0 || lastOfPicture[shown] - viewer.countsFrom > 10_000 {
                    viewer.countsFrom = lastOfPicture[shown]
                }
                shown += 1
            }
            guard shown > before else { continue }
            if now - shownAt > 200 { freezes += 1 }
            shownAt = now
        }
        figures.freezesPerMinute = Double(freezes) / Double(minutes)
        return figures
    }

    private static let paths = [
        Path(loss: 1, limit: 0), Path(loss: 5, limit: 0.5), Path(loss: 10, limit: 2), Path(loss: 20, limit: 8),
        Path(loss: 5, lossBack: 5, limit: 1),
    ]

    @Test("a viewer who measures the round trip sees few freezes on a lossy path", arguments: paths)
    func freezes(path: Path) {
        let figures = run(path)
        #expect(figures.lost > 100)
        #expect(figures.freezesPerMinute <= path.limit)
        #expect(figures.resent <= 2 * figures.lost)
    }

    @Test("second copies alone help a viewer who can't measure it")
    func copiesAlone() {
        var path = Path(loss: 10, assumedRoundTrip: 100)
        let with = run(path)
        path.hasSecondCopies = false
        let without = run(path)
        #expect(without.freezesPerMinute > 8)
        #expect(with.freezesPerMinute < without.freezesPerMinute / 8)
    }

    @Test("asking again after one round trip instead of 100 ms helps even without second copies")
    func roundTripAlone() {
        var path = Path(loss: 10, hasSecondCopies: false)
        let with = run(path)
        path.assumedRoundTrip = 100
        #expect(with.freezesPerMinute < run(path).freezesPerMinute / 2)
    }

    @Test("a path without loss carries nothing twice")
    func noLoss() {
        let figures = run(Path(loss: 0), minutes: 1)
        #expect(figures.resent == 0)
        #expect(figures.freezesPerMinute == 0)
    }

    @Test(
        "where losses come in bursts, padding between the pictures leaves hardly any freeze, and no stop",
        arguments: [1...3, 2...6])
    func bursts(packets: ClosedRange<Int>) {
        var path = Path(loss: 2, burst: 5, packets: packets, assumedRoundTrip: 45)
        let with = run(path, minutes: 10)
        path.hasPadding = false
        let without = run(path, minutes: 10)
        #expect(without.freezesPerMinute > 1)
        #expect(with.freezesPerMinute < without.freezesPerMinute / 8)
        #expect(with.stops == 0)
    }
}
