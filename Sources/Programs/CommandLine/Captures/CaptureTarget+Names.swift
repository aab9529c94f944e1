public import MediaTypes

extension CaptureTarget {
    /// What kind of target it is, in one word.
    public var kindName: String {
        switch self {
        case .screen: "screen"
        case .monitor: "monitor"
        case .window: "window"
        case .region: "region"
        }
    }
}
