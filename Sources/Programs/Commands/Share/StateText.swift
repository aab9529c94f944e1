import ByteCoding
import CaptureLink
import MediaTypes
import ScreenRelayKit
import TrackHub

extension SourceLimits {
    /// A description such as "10 fps and 600 kbit/s".
    var text: String {
        Self.text(framesPerSecond: frameRate.map { Int($0.millihertz / 1000) }, bitsPerSecond: bitRate?.bitsPerSecond)
    }

    /// A description of these limits; empty without any.
    static func text(framesPerSecond: Int?, bitsPerSecond: Int?) -> String {
        let parts = [framesPerSecond.map { "\($0) fps" }, bitsPerSecond.map { rateText(Double($0)) + "/s" }]
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
    func text(for source: String) -> String { stateText(word, of: source) }
}

/// A description of a source's state in one word, such as `hidden`; `source` is what sends the pictures.
func stateText(_ word: String, of source: String) -> String {
    switch word {
    case "waiting": "waiting for \(source)"
    case "locked": "paused while the screen is locked"
    case "hidden": "paused while what is shared is not on the screen"
    case "gone": "\(source) is gone"
    default: word
    }
}

/// A number of bits in a few characters, such as `480 kbit` or `1.25 Mbit`.
func rateText(_ bits: Double) -> String {
    bits < 1e6 ? "\(DecimalText.fixed(bits / 1e3, digits: 0)) kbit" : "\(DecimalText.fixed(bits / 1e6, digits: 2)) Mbit"
}
