import ByteCoding
import MediaTypes
import RoomConnections

/// The figures of one second of viewing.
struct ViewSecond: Equatable {
    /// The viewer's state.
    enum State: String {
        case connecting, playing, waiting
    }

    var state: State
    /// The number of pictures that were decoded, per second.
    var picturesPerSecond = 0.0
    /// The size of the last picture; nil if there is none yet.
    var size: PictureSize?
    /// The bits of pictures and sound per second.
    var bitRate = BitRate(bitsPerSecond: 0)
    /// Video packets that weren't retransmitted in time.
    var lostPackets = 0
    var freezes = 0
    /// The median time from the capture of a picture until it was decoded; nil if no picture has one.
    var delay: Interval?
    /// The path of the packets; nil if there is none, or only a file or a stream over RTSP.
    var path: ConnectionPath?

    /// As one JSON object, in milliseconds and bits per second.
    var json: String {
        JSONObject { object in
            object.add("state", state.rawValue)
            object.add("pictures", picturesPerSecond, digits: 1)
            object.add("width", size?.width)
            object.add("height", size?.height)
            object.add("bitRate", bitRate.bitsPerSecond)
            object.add("lostPackets", lostPackets)
            object.add("freezes", freezes)
            object.add("delay", delay.map { $0.seconds * 1000 }, digits: 1)
            object.add("path", path?.rawValue)
        }.text
    }

    /// As text, in the order and the units of the page.
    var text: String {
        guard state == .playing else { return state.rawValue }
        var parts: [String] = []
        if let delay { parts.append("\(delay.milliseconds) ms") }
        parts.append("\(DecimalText.fixed(picturesPerSecond, digits: 0)) fps")
        let rate = Double(bitRate.bitsPerSecond)
        parts.append(
            rate < 999_500
                ? "\(DecimalText.fixed(rate / 1000, digits: 0)) kbit/s"
                : "\(DecimalText.fixed(rate / 1e6, digits: 1)) Mbit/s")
        if lostPackets > 0 { parts.append("lost packets: \(lostPackets)") }
        if freezes > 0 { parts.append("freezes: \(freezes)") }
        switch path {
        case .tcp: parts.append("over TCP")
        case .relay: parts.append("through a relay")
        case .udp, nil: break
        }
        if let size { parts.append("\(size)") }
        return parts.joined(separator: ", ")
    }
}

/// Sums up the received frames once a second. A value without a clock.
struct ViewFigures {
    /// A picture that is this late after the one before it counts as a freeze if packets were lost meanwhile or if it
    /// took as long to arrive. A static screen isn't frozen.
    private static let freeze = Interval.milliseconds(200)
    /// As in the page: even if nothing changes, the capture sends a picture 2.5 s after the last one, whose delay
    /// does not count.
    private static let keepAlive = Interval.milliseconds(2_490)
    /// A stream's clock is known once its sender has reported it, which senders do about once a second.
    private static let clockTime = Interval.seconds(2)

    /// The number of pictures that were decoded so far, on all connections.
    private(set) var pictures = 0
    private var second = ViewSecond(state: .connecting)
    private var count = 0
    private var octets = 0
    private var delays: [Interval] = []
    private var begun: MonotonicTime
    private var connectedAt = MonotonicTime.distantFuture
    /// The packets that were lost on the current connection so far.
    private var lostPackets = 0
    private var hasLostSincePicture = false
    private var lastShown: MonotonicTime?
    private var lastCapture: MonotonicTime?

    init(now: MonotonicTime) { begun = now }

    /// Notes that another connection has begun.
    mutating func connected(at now: MonotonicTime) {
        connectedAt = now
        lostPackets = 0
        (hasLostSincePicture, lastShown, lastCapture, path) = (false, nil, nil, nil)
    }

    /// The path of the packets, which lasts until another connection has begun.
    var path: ConnectionPath?

    mutating func arrived(_ frame: ReceivedFrame) {
        octets += frame.coded.bytes.count
        guard frame.lostPackets > lostPackets else { return }
        second.lostPackets += frame.lostPackets - lostPackets
        lostPackets = frame.lostPackets
        hasLostSincePicture = true
    }

    /// Notes that a frame was decoded at `now`.
    mutating func decoded(_ frame: ReceivedFrame, size: PictureSize?, at now: MonotonicTime) {
        pictures += 1
        count += 1
        if let size { second.size = size }
        let delay = frame.coded.captureTime.map { now - $0 }
        if let lastShown, now - lastShown >= Self.freeze, hasLostSincePicture || (delay ?? .zero) >= Self.freeze {
            second.freezes += 1
        }
        (lastShown, hasLostSincePicture) = (now, false)
        guard let captured = frame.coded.captureTime, let delay else { return }
        let isKeepAlive = lastCapture.map { captured - $0 >= Self.keepAlive } ?? false
        lastCapture = captured
        // A picture from before the connection waited at the host.
        guard !isKeepAlive, captured > connectedAt, now - connectedAt >= Self.clockTime else { return }
        delays.append(max(.zero, delay))
    }

    /// The figures since the last call.
    mutating func take(_ state: ViewSecond.State, at now: MonotonicTime) -> ViewSecond {
        let seconds = max((now - begun).seconds, 0.001)
        var taken = second
        taken.state = state
        taken.path = state == .playing ? path : nil
        taken.picturesPerSecond = Double(count) / seconds
        taken.bitRate = BitRate(bitsPerSecond: Int(Double(octets) * 8 / seconds))
        let sorted = delays.sorted()
        taken.delay = sorted.isEmpty ? nil : sorted[sorted.count / 2]
        (second.lostPackets, second.freezes, count, octets, begun) = (0, 0, 0, 0, now)
        delays.removeAll(keepingCapacity: true)
        return taken
    }
}
