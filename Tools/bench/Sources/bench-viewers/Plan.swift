import MediaTypes

/// What the viewers do, and for how long.
struct Plan: Sendable {
    /// What viewers report to the host.
    enum Feedback: String, CaseIterable, Sendable {
        /// What Chromium does: receiver reports, transport-wide feedback, and requests for packets and key frames.
        case all
        /// Only receiver reports.
        case reports
        /// Only the checks of ICE.
        case none
    }

    let address: WHEPAddress
    let viewers: Int
    /// Joins per second.
    let joinRate: Int
    let feedback: Feedback
    /// Whether transport-wide feedback is offered.
    let offersTransportFeedback: Bool
    /// Whether the receiver reports of the first viewer without a path of its own always name the sequence number 0.
    var hasFalseReports = false
    /// One viewer of so many decrypts all packets; 0 means that none does.
    let sample: Int
    /// The time between the last viewer's first picture and the measurement.
    let warmUp: Interval
    /// The length of the measurement.
    let length: Interval
    /// How long the thread sleeps between two looks at its sockets. With zero, each packet wakes it.
    let pause: Interval
    /// Whether viewers begin the DTLS handshake, and ignore what the host answers.
    var stopsAfterHello = false
    /// The network path of the viewers that have none of their own.
    var path = ViewerPath()
    /// The paths of the first viewers, one for each. There are more viewers than paths.
    var ownPaths: [ViewerPath] = []
    /// Whether the pictures of the first viewer without a path of its own, which decrypts all packets, are decoded
    /// after the measurement.
    var decodes = false

    /// Whether viewers send transport-wide feedback.
    var sendsTransportFeedback: Bool { feedback == .all && offersTransportFeedback }
}
