import MediaTypes
import ScreenRelayKit
import Testing

/// A host that is not open, with a still screen.
final class StillHost {
    let host: ScreenRelayHost
    private let track = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
    private let watcher: TrackSubscription
    private let last: CodedFrame?

    init(_ configuration: HostConfiguration, showing pictures: [CodedFrame]) throws {
        host = try ScreenRelayHost(configuration)
        last = pictures.last
        watcher = host.firstTrack.subscribe {}
        #expect(host.firstTrack.publish(track))
        for picture in pictures { track.write(picture) }
    }

    deinit { host.stop() }

    /// Shows the last picture once more.
    func repeatLast() {
        if let last { track.write(last) }
    }
}
