/// How frames and audio come into a host; the raw value is the row's name in the table.
enum WayIn: String, CaseIterable {
    case capture
    case whip = "WHIP publisher"
    case rtsp = "`--source rtsp:`"
    case rtmp = "`--source rtmp:`"
    case srt = "`--source srt:`"
    case file = "`--source file:`"
    case custom = "custom track"
    /// Of what ``file`` has recorded.
    case replay = "`replay`"
}

/// How they go out; the raw value is the column's name.
enum WayOut: String, CaseIterable {
    case page
    case whep = "WHEP"
    case webSocket = "WebSocket"
    case rtsp = "RTSP"
    case pcmu = "RTSP, PCMU"
    case snapshot
    case rtmp = "RTMP push"
    case srt = "SRT push"
    case hls = "HLS push"
    case file = "file push"
    case whipPush = "WHIP push"
    case janus = "Janus push"
    case skyRTC = "SkyRTC join"
    case socketIO = "socket.io join"
    case recording

    /// Whether a client reports while the host runs what it sees and hears.
    var isLive: Bool { [.whep, .webSocket, .whipPush, .janus, .skyRTC, .socketIO].contains(self) }
}
