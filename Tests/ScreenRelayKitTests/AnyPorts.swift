import STUN
import ScreenRelayKit
import Signalling
import Threading
import WebRTC

extension HostConfiguration {
    /// On loopback, on ports that are free, so that tests don't meet each other.
    static var anyPorts: HostConfiguration { HostConfiguration() }

    /// The same with this UDP port.
    func with(mediaPort: UInt16) -> HostConfiguration {
        var changed = self
        changed.mediaAddress = TransportAddress(ipv4: 127, 0, 0, 1, port: mediaPort)
        return changed
    }
}

extension SignallingServer {
    /// A server that is never started, for tracks without a room.
    static var unused: SignallingServer { SignallingServer(SignallingConfiguration(listen: [], rooms: [])) }
}

extension MediaServer {
    /// On a free port of loopback.
    static func onAnyPort() throws -> MediaServer {
        try MediaServer(
            MediaServerConfiguration(bind: TransportAddress(ipv4: 127, 0, 0, 1, port: 0)), log: .silent)
    }
}
