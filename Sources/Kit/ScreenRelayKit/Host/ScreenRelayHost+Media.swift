import STUN
import Threading
import WebRTC

extension ScreenRelayHost {
    /// Whether ``mediaPort`` is another one than ``HostConfiguration/mediaAddress`` has, since that one is taken.
    public var usesOtherMediaPort: Bool { ![0, mediaPort].contains(configuration.mediaAddress.port) }

    /// Starts the media server; if its port is taken and another one may be used, on any free port.
    static func mediaServer(
        _ configuration: MediaServerConfiguration, mayUseOtherPort: Bool, _ log: EventLog
    ) throws(HostError) -> MediaServer {
        do throws(WebRTCError) {
            return try MediaServer(configuration, log: log)
        } catch {
            let bind = TransportAddress(bytes: configuration.bind.bytes, port: 0)
            guard mayUseOtherPort, error.isAddressTaken, let bind else { throw HostError(error) }
            var configuration = configuration
            configuration.bind = bind
            return try mediaServer(configuration, mayUseOtherPort: false, log)
        }
    }
}
