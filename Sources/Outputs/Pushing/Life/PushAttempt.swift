import MediaTypes
import OutputLife

/// One attempt of a push, and the connection that comes of it. Its control thread uses it; what becomes of it is
/// reported from any thread.
protocol PushAttempt: AnyObject, Sendable {
    /// The number that ``OutputLife`` gave the attempt; its reports have it.
    var number: Int { get }
    /// When ``collect()`` has something to do although nothing has come of the track.
    var deadline: MonotonicTime { get }

    /// Takes what has come of the track.
    func collect()
    /// Sends what waits, and then ends.
    func close()
    /// Ends at once, wherever it is.
    func abandon()
    /// Waits until it uses nothing any more, but no longer than until `deadline`.
    func join(until deadline: MonotonicTime)

    /// Whether another one is to take its place: it lacks sound or pictures that have come since, or has ended because
    /// the pictures don't fit into its file any more.
    var isStale: Bool { get }
    /// What was sent since the last call.
    func takeRates(_ now: MonotonicTime) -> OutputMeter.Rates
    /// Returns whether the network has turned out to be weak, and says so once. Called at least once per second.
    func takeWeakness(_ now: MonotonicTime) -> Bool
    func backlog(_ now: MonotonicTime) -> PushBacklog
}

/// What waits in an attempt, and what was left out and sent.
struct PushBacklog {
    var age = Interval.zero
    var byteCount = 0
    var dropped = (pictures: 0, sound: 0)
    var sent = (pictures: 0, sound: 0)
    var sentPictureBytes: Int64 = 0
    var path = OutputMeter.Path()
}
