/// Where a session's datagrams go: the socket, or in tests a link that loses some.
protocol DatagramSink: AnyObject {
    /// Sends `datagram`, which the caller keeps; false where there is no room for it now.
    func send(_ datagram: [UInt8], along path: NetworkPath) -> Bool
}
