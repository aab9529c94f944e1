/// Where a session's datagrams go: the socket, or in tests a link that loses some.
protocol DatagramSink: AnyObject {
    /// Sends `datagram`, which the caller keeps.
    ///
    /// - Returns: false where there is no room now. The datagram goes out as soon as there is some; what can wait at its sender should wait
    ///   there.
    func send(_ datagram: [UInt8], along path: NetworkPath) -> Bool
}
