import CaptureLink
import MediaTypes
import ScreenRelayKit
import TrackHub

extension SourceLimits {
    /// A description such as "10 fps and 600 kbit/s".
    var text: String {
        let parts = [
            frameRate.map { "\($0.millihertz / 1000) fps" }, bitRate.map { rateText(Double($0.bitsPerSecond)) + "/s" },
        ]
        return parts.compactMap { $0 }.joined(separator: " and ")
    }
}

extension SourceOrders {
    /// The rates among them, such as "frame rate and bit rate".
    var text: String {
        let parts = [contains(.frameRate) ? "frame rate" : nil, contains(.bitRate) ? "bit rate" : nil]
        return parts.compactMap { $0 }.joined(separator: " and ")
    }
}

extension SourceState {
    /// A description in a few words; `source` is what sends the pictures, such as "capture".
    func text(for source: String) -> String {
        switch self {
        case .waiting: "waiting for \(source)"
        case .live: "live"
        case .paused(.sharer): "paused"
        case .paused(.screenLocked): "paused while the screen is locked"
        case .paused(.windowHidden): "paused while what is shared is not on the screen"
        case .gone: "\(source) is gone"
        }
    }

    /// The state in one word, for programs.
    var word: String {
        switch self {
        case .waiting: "waiting"
        case .live: "live"
        case .paused(.sharer): "paused"
        case .paused(.screenLocked): "locked"
        case .paused(.windowHidden): "hidden"
        case .gone: "gone"
        }
    }
}
