import MediaSessions
import MediaTypes
import TrackHub

extension Metrics {
    /// The metrics in the text format 0.0.4 of Prometheus, in its base units: seconds and bytes.
    ///
    /// The values of labels are fixed words, the bounds of histograms, and numbers of at most ``roomLimit`` rooms and
    /// eight media threads, so the number of time series has a limit.
    public var prometheusText: String {
        var text = PrometheusText()
        addViewers(to: &text)
        addCaptures(to: &text)
        addTracks(to: &text)
        addSending(to: &text)
        addMediaThreads(to: &text)
        text.begin("stage_seconds", "histogram", "How long pictures took for each stage of their way.")
        for (stage, times) in namedStages {
            text.add(
                [("stage", stage)], buckets: times.buckets.map { ($0.bound.seconds, $0.count) },
                sum: times.sum.seconds, count: times.count)
        }
        return text.text
    }

    private func addViewers(to text: inout PrometheusText) {
        text.add("viewers", "gauge", "Viewers now; one who watches two tracks counts twice.", viewers)
        text.add(
            "narrow_viewers", "gauge", "Viewers who get fewer pictures because of their network paths.", lowLayerViewers
        )
        text.add("tcp_viewers", "gauge", "Viewers whose pictures go over TCP.", tcpViewers)
        text.add("websocket_viewers", "gauge", "Viewers whose pictures go over WebSockets.", webSocketViewers)
        text.begin("sessions", "gauge", "Sessions of viewers, and of pushes over WebRTC, by state.")
        text.add([("state", "connecting")], sessions.connecting)
        text.add([("state", "connected")], sessions.connected)
        text.begin("room_viewers", "gauge", "Viewers of each room; one who watches two tracks counts twice.")
        for (name, room) in numberedRooms { text.add([("room", name)], room.viewers) }
        text.begin("room_tracks", "gauge", "Tracks of each room by the state of their sources.")
        for (name, room) in numberedRooms {
            text.add([("room", name), ("state", "waiting")], room.waitingTracks)
            text.add([("room", name), ("state", "live")], room.liveTracks)
            text.add([("room", name), ("state", "paused")], room.pausedTracks)
            text.add([("room", name), ("state", "gone")], room.goneTracks)
        }
    }

    /// The rooms with their numbers, from 1.
    private var numberedRooms: [(name: String, room: Room)] {
        rooms.enumerated().map { index, room in (index < Self.roomLimit ? "\(index + 1)" : "other", room) }
    }

    private func addCaptures(to text: inout PrometheusText) {
        let work = tracks.work
        text.add("captures", "gauge", "Captures that are connected and have reported on their work.", captures)
        text.add("captured_pictures_total", "counter", "Pictures encoded by captures.", work.pictures)
        text.add("captured_key_frames_total", "counter", "Key frames encoded by captures.", work.keyFrames)
        text.add("captured_bytes_total", "counter", "Bytes that captures have written to capture links.", work.bytes)
        text.add("held_back_pictures_total", "counter", "Pictures that waited for a slow capture link.", work.heldBack)
        text.add("capture_memory_bytes", "gauge", "Resident memory of captures.", captureMemory)
        text.begin("publishers", "gauge", "Publishers by protocol and by what becomes of their pictures, without WHIP.")
        for transport in PublishingProtocol.allCases {
            let count = publishers[transport] ?? PublisherCount()
            text.add([("protocol", transport.rawValue), ("pictures", "unchanged")], count.unchanged)
            text.add([("protocol", transport.rawValue), ("pictures", "reencoded")], count.reencoded)
        }
    }

    private func addTracks(to text: inout PrometheusText) {
        text.add("published_pictures_total", "counter", "Pictures that viewers could get from tracks.", tracks.frames)
        text.add("published_key_frames_total", "counter", "Key frames among published pictures.", tracks.keyFrames)
        text.add(
            "source_key_frame_requests_total", "counter",
            "Key frames requested from sources, or from the host's encoder for sources that make none.",
            tracks.keyFrameRequests)
        text.add(
            "viewer_key_frame_requests_total", "counter", "Key frame requests of viewers (PLI and FIR).",
            sent.keyFrameRequests)
    }

    private func addSending(to text: inout PrometheusText) {
        text.add("sent_pictures_total", "counter", "Pictures sent completely, once for each session.", sent.framesSent)
        text.add("sent_packets_total", "counter", "RTP packets sent, without retransmissions by RTX.", sent.sentPackets)
        text.add(
            "sent_bytes_total", "counter", "Bytes of pictures and sound sent, without headers of packets.",
            sent.sentBytes)
        text.add(
            "retransmitted_packets_total", "counter", "RTP packets sent again by RTX.", sent.retransmittedPackets)
        text.add("lost_packets_total", "counter", "RTP packets that viewers have missed.", sent.lostPackets)
        text.begin("media_loop_lag_seconds", "gauge", "The most that a media thread was late in the last second.")
        text.add([], seconds: mediaLag.seconds)
        let drops = sent.drops
        text.begin("dropped_packets_total", "counter", "Packets that the host had no room for, by reason.")
        text.add([("reason", "udp")], drops.udpPackets)
        text.add([("reason", "tcp")], drops.tcpPackets)
        text.add([("reason", "overload")], drops.overloadPackets)
        text.begin("dropped_frames_total", "counter", "Pictures and audio packets that were left out, by reason.")
        text.add([("reason", "overload")], drops.overloadFrames)
        text.add([("reason", "slow_path")], drops.slowPathFrames)
        text.add([("reason", "late_sound")], drops.lateSoundFrames)
        text.add(
            "dropped_points_total", "counter",
            "Positions that pages sent too often, or that the sharer's own screen doesn't show.",
            droppedPoints)
        text.add(
            "dropped_chat_messages_total", "counter", "Chat messages that viewers sent too often.",
            droppedChatMessages)
        text.begin("path_bytes_per_second", "histogram", "Estimated rates of viewers' paths, sampled once per second.")
        text.add(
            buckets: sent.estimates.buckets.map { (Double($0.bound.bitsPerSecond) / 8, $0.count) },
            sum: sent.estimates.sum / 8, count: sent.estimates.count)
    }

    private func addMediaThreads(to text: inout PrometheusText) {
        let threads = numberedThreads
        text.begin("media_thread_sessions", "gauge", "Sessions of viewers, and of pushes over WebRTC, by media thread.")
        for (name, thread) in threads { text.add([("thread", name)], thread.sessions) }
        text.begin("media_thread_lag_seconds", "gauge", "The most that each media thread was late in the last second.")
        for (name, thread) in threads { text.add([("thread", name)], seconds: thread.lag.seconds) }
        text.begin(
            "media_thread_sent_packets_total", "counter", "RTP packets sent by each media thread, without RTX.")
        for (name, thread) in threads { text.add([("thread", name)], thread.totals.sentPackets) }
        text.begin(
            "media_thread_sent_bytes_total", "counter",
            "Bytes of pictures and sound sent by each media thread, without headers of packets.")
        for (name, thread) in threads { text.add([("thread", name)], thread.totals.sentBytes) }
    }

    /// The media threads with their numbers, from 0.
    private var numberedThreads: [(name: String, thread: MediaThreadStatistics)] {
        mediaThreads.enumerated().map { index, thread in ("\(index)", thread) }
    }
}
