/// The state of the captured devices, as of the last change.
struct PulseDevices {
    /// A device that can be recorded.
    struct Device {
        /// The name of the source to record: the microphone, or the sink's monitor.
        var source: String
        /// Whether it may give anything but silence: a program plays on the sink, or the microphone isn't muted.
        var mayBeHeard: Bool
    }

    /// The sink: its index, and the name of its monitor.
    var sink: (index: UInt32, monitor: String)?
    /// The microphone.
    var microphone: Device?
    /// The sinks on which a program plays, by index.
    var playedOn: [UInt32] = []

    /// The device of a source; nil if there is none.
    func device(_ kind: AudioConfiguration.Source.Kind) -> Device? {
        switch kind {
        case .desktop: sink.map { Device(source: $0.monitor, mayBeHeard: playedOn.contains($0.index)) }
        case .microphone: microphone
        }
    }
}
