import ByteCoding
import MediaSessions
import MediaTypes
import TrackHub

extension Metrics {
    /// The metrics in the text format 0.0.4 of Prometheus, in its base units: seconds and bytes.
    public var prometheusText: String {
        var text = ""
        func add(_ name: String, _ type: String, _ help: String, _ value: some BinaryInteger) {
            text +=
                "# HELP screenrelay_\(name) \(help)\n# TYPE screenrelay_\(name) \(type)\nscreenrelay_\(name) \(value)\n"
        }
        add("viewers", "gauge", "Viewers now; one who watches two tracks counts twice.", viewers)
        add(
            "narrow_viewers", "gauge", "Viewers who get fewer pictures because of their network paths.", lowLayerViewers
        )
        add("tcp_viewers", "gauge", "Viewers whose pictures go over TCP.", tcpViewers)
        add("captures", "gauge", "Captures that are connected and have reported on their work.", captures)
        add("captured_pictures_total", "counter", "Pictures encoded by captures.", work.pictures)
        add("captured_key_frames_total", "counter", "Key frames encoded by captures.", work.keyFrames)
        add("captured_bytes_total", "counter", "Bytes that captures have written to capture links.", work.bytes)
        add("held_back_pictures_total", "counter", "Pictures that waited for a slow capture link.", work.heldBack)
        add("capture_memory_bytes", "gauge", "Resident memory of captures.", captureMemory)
        add("sent_pictures_total", "counter", "Pictures sent completely, once for each session.", sent.framesSent)
        add("sent_packets_total", "counter", "RTP packets sent, without retransmissions by RTX.", sent.sentPackets)
        add("retransmitted_packets_total", "counter", "RTP packets sent again by RTX.", sent.retransmittedPackets)
        add("lost_packets_total", "counter", "RTP packets that viewers have missed.", sent.lostPackets)
        text += "# HELP screenrelay_stage_seconds How long pictures took for each stage of their way.\n"
        text += "# TYPE screenrelay_stage_seconds histogram\n"
        for (stage, times) in namedStages {
            func line(_ part: String, _ labels: String = "", _ value: String) {
                text += "screenrelay_stage_seconds_\(part){stage=\"\(stage)\"\(labels)} \(value)\n"
            }
            for (bound, count) in times.buckets {
                let seconds = DecimalText.fixed(bound.seconds, digits: 6, trimmed: true)
                line("bucket", ",le=\"\(seconds)\"", "\(count)")
            }
            line("bucket", ",le=\"+Inf\"", "\(times.count)")
            line("sum", "", DecimalText.fixed(times.sum.seconds, digits: 6, trimmed: true))
            line("count", "", "\(times.count)")
        }
        return text
    }
}
