import MediaTypes

/// What is measured of a viewer, however it gets its video.
protocol Watcher: AnyObject {
    /// When it asked for the video.
    var began: MonotonicTime { get }
    /// When its connection was encrypted; nil before that, and over TCP.
    var connected: MonotonicTime? { get }
    /// When the first whole picture was there; nil before that.
    var firstPicture: MonotonicTime? { get }
    /// Why it is over; nil while it isn't.
    var failure: String? { get }
    /// Whether it is known which of its pictures are the same as other viewers'.
    var isPlaced: Bool { get }
    /// Whole pictures among those that count.
    var wholePictures: Int { get }
}

extension Watcher {
    var connected: MonotonicTime? { nil }
}

extension Viewer: Watcher {}
