import ByteCoding
import CaptureLink
import MediaTypes
import Opus

/// Describes messages for people.
enum MessageFormatter {
    /// Describes a message other than a NAL unit; empty if its kind says everything.
    static func text(of body: LinkMessage) -> String {
        switch body {
        // The codes of a proof are never shown: they could be used to guess the token.
        case .unit, .requestKeyFrame, .unwatched, .watched, .sharpen, .answer, .challenge, .proof: ""
        case .format(let codec): "\(codec)"
        case .hello(let hello): text(of: hello)
        case .picture(let notice): text(of: notice)
        case .size(let size): "\(size)"
        case .end(let notice): "\(notice.reason)" + (notice.text.isEmpty ? "" : ": \(notice.text)")
        case .pointerShape(let image): "\(image.size), points at \(image.hotX),\(image.hotY)"
        case .pointerPosition(let position): "\(position.x),\(position.y)" + (position.isVisible ? "" : " hidden")
        case .sharing(let state): "\(state)"
        case .bitRate(let rate), .carried(let rate):
            "\(DecimalText.grouped(UInt64(max(0, rate.bitsPerSecond)))) bit/s"
        case .frameRate(let rate): "\(DecimalText.fixed(Double(rate.millihertz) / 1000, digits: 3, trimmed: true)) fps"
        case .pointerMode(let mode): "\(mode)"
        case .sharerPaused(let isPaused): isPaused ? "pauses" : "goes on"
        case .microphoneMuted(let isMuted): isMuted ? "muted" : "unmuted"
        case .chroma(let format): "\(format)"
        case .pointing(let point): point.map { text(of: $0) } ?? "nobody"
        case .ping(let time): "at \(time.nanoseconds) ns"
        case .pong(let echo): "to \(echo.asked.nanoseconds) ns, sent at \(echo.sent.nanoseconds) ns"
        case .statistics(let statistics): text(of: statistics)
        }
    }

    /// Describes a packet of sound.
    static func text(of packet: OpusPacket) -> String {
        let milliseconds = DecimalText.fixed(packet.duration.seconds * 1000, digits: 1, trimmed: true)
        return "\(milliseconds) ms, \(packet.isStereo ? "stereo" : "mono")"
    }

    /// The name of a kind, as in Protocol/capture-link.md; nil if this version doesn't know it.
    static func name(ofKind code: UInt8) -> String? {
        code == MessageEncoder.sourceBytesKind ? "sourceBytes" : MessageKind(rawValue: code).map { "\($0)" }
    }

    /// Describes a message that receivers ignore.
    static func text(ofKind code: UInt8) -> String {
        code == MessageEncoder.sourceBytesKind
            ? "of the file that is replayed, outside its NAL units" : "of a kind that this version doesn't know"
    }

    private static func text(of point: ViewerPoint) -> String {
        let place = point.place.map { "\($0.x),\($0.y)" } ?? "nowhere"
        return "'\(point.name)' at \(place)" + (point.path.isEmpty ? "" : ", draws \(point.path.count) steps")
    }

    private static func text(of hello: Hello) -> String {
        var text = "\(hello.role), version \(hello.version)"
        if !hello.name.isEmpty { text += ", '\(hello.name)'" }
        if hello.processID != 0 { text += ", process \(hello.processID)" }
        return text
    }

    private static func text(of notice: PictureNotice) -> String {
        let damage = notice.damage
        var text = "#\(notice.sequenceNumber), damage "
        text += damage.width == 0 || damage.height == 0 ? "none" : damage.text
        if notice.qp != 0 { text += ", qp \(notice.qp)" }
        if notice.settling.nanoseconds > 0 {
            text += ", settled \(DecimalText.fixed(notice.settling.seconds * 1000, digits: 1)) ms"
        }
        if let worked = notice.worked {
            text += ", encoded after \(DecimalText.fixed(worked.seconds * 1000, digits: 1)) ms"
        }
        return text
    }

    private static func text(of statistics: CaptureStatistics) -> String {
        var text = "\(statistics.pictures) pictures, \(DecimalText.grouped(statistics.bytes)) bytes"
        if statistics.pictures > 0 {
            let milliseconds = Double(statistics.encodeNanoseconds) / Double(statistics.pictures) / 1e6
            text += ", encoding \(DecimalText.fixed(milliseconds, digits: 2)) ms each"
        }
        return text + ", \(statistics.residentBytes >> 20) MiB resident"
    }
}

extension PixelRectangle {
    /// The format `640x480+10+20`.
    var text: String { "\(width)x\(height)+\(x)+\(y)" }
}
