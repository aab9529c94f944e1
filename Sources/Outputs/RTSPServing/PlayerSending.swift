import LinkTransport
import MediaTypes
import RTP

/// Sends a track's pictures or its sound to one player. Belongs to the server's thread.
protocol PlayerSending: AnyObject {
    var stream: PlayerStream { get }
    /// When `advance` has something to do besides what comes of the track.
    var deadline: MonotonicTime { get }

    /// Begins, or begins again. Returns when the first of what is there is shown; nil if nothing is there.
    func play(now: MonotonicTime) -> MonotonicTime?
    func pause()
    /// Takes what the player says of what it has received, if that is of this stream.
    func takeReport(_ report: ReceptionReport, now: MonotonicTime)
    /// Sends what is due, as far as there is room.
    func advance(
        over connection: SocketConnection, _ ports: RTSPPorts, _ packets: inout PacketizedFrames, now: MonotonicTime
    ) throws(SocketError)
}
