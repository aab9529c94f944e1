import MediaTypes

/// The viewer's end of its network path. What it sends itself is neither lost nor delayed.
extension Viewer {
    /// Whether datagrams are on the path.
    var isAwaitingDatagrams: Bool { !underway.isEmpty }

    /// Puts a datagram that the kernel received at `arrival` on the path, and handles it if the path doesn't delay it.
    func receive(_ bytes: UnsafeRawBufferPointer, arrival: MonotonicTime, now: MonotonicTime) {
        guard phase != .over else { return }
        guard let exit = path.exit(of: bytes.count, at: arrival) else {
            counters.pathDrops += 1
            return
        }
        if underway.isEmpty, exit <= max(arrival, now) { return handle(bytes, arrival: exit, now: now) }
        underway.append((Array(bytes), exit))
    }

    /// Handles the datagrams that have left the path.
    func deliver(now: MonotonicTime) {
        let count = underway.firstIndex { $0.exit > now } ?? underway.count
        for datagram in underway.prefix(count) {
            datagram.bytes.withUnsafeBytes { handle($0, arrival: datagram.exit, now: now) }
        }
        underway.removeFirst(count)
    }
}
