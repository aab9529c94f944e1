import Clocks
import Glibc
import MediaSessions
import MediaTypes
import STUN
import Threading

/// What leaves the media thread: datagrams over the UDP socket, several in one call, and over TCP connections.
extension MediaLoop: DatagramSink {
    func send(_ datagram: [UInt8], along path: NetworkPath) -> Bool {
        owner.check()
        guard path.peer.connection == 0 else { return streams.send(datagram, over: path.peer.connection) }
        // Waiting datagrams go first. While there are any, the batch is empty.
        if waiting.isEmpty {
            if batch.append(datagram, along: path) { return true }
            if sendBatch() { return batch.append(datagram, along: path) }
        }
        hold(datagram, along: path)
        return false
    }

    /// Sends the datagrams that have been collected. If the socket has no room for them, they wait, and the result is
    /// false.
    @discardableResult
    func sendBatch() -> Bool {
        guard let path = batch.path else { return true }
        defer { batch.removeAll() }
        if batch.count > 1, segmentation.allows(path.peer) {
            switch socket.udp.send(batch.bytes, inSegmentsOf: batch.segmentByteCount, along: path) {
            case .done: return true
            case .noRoom:
                for index in 0..<batch.count { hold(Array(batch[index]), along: path) }
                return false
            case .unsupported(let isForever): if isForever { segmentation.refuse(path.peer) }
            }
        }
        for index in 0..<batch.count {
            if waiting.isEmpty, socket.udp.send(batch[index], along: path) { continue }
            hold(Array(batch[index]), along: path)
        }
        return waiting.isEmpty
    }

    /// Keeps a datagram until the socket has room.
    private func hold(_ datagram: [UInt8], along path: NetworkPath) {
        if !waiting.append(datagram, along: path) { record.drops.udpPackets += 1 }
    }

    func admitsCheck(now: MonotonicTime) -> Bool { group.admitsCheck(now: now) }

    /// Sends waiting datagrams as far as there is room, then lets the stalled sessions continue in turn. A session that
    /// fills the socket again gets its next turn last.
    func sendWaiting() {
        guard entries[0].revents & Int16(POLLOUT) != 0 else { return }
        waiting.drain { socket.udp.send($0, along: $1) }
        let turns = stalled
        stalled.removeAll()
        for (index, session) in turns.enumerated() {
            guard waiting.isEmpty else {
                stalled.insert(contentsOf: turns[index...], at: 0)
                return
            }
            session.isQueuedForRoom = false
            session.resume(now: .now())
            note(session)
        }
    }
}
