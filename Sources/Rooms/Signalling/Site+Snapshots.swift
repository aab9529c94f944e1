import CGLib
import Rooms

/// A request that waits for its picture.
struct PendingSnapshot {
    let exchange: HTTPExchange
    let format: SnapshotFormat
    let headers: [(String, String)]
    /// When the wait is over (g_get_monotonic_time).
    let deadline: Int
}

/// `GET /snapshot.png` and `/snapshot.jpg`: the last picture of a track.
extension Site {
    func snapshot(_ exchange: HTTPExchange, _ format: SnapshotFormat) {
        switch admit(exchange, to: exchange.query("room") ?? "") {
        case .refused(let response): exchange.answer(response)
        case .admitted(let room, let headers):
            guard exchange.method == "GET" else {
                return exchange.answer(HTTPResponse(405, headers: headers + [("Allow", "GET")], text: "not possible"))
            }
            let wanted = exchange.query("track")
            let track = wanted.flatMap { TrackName($0) }
            guard let media = media[room.name, track], wanted == nil || track != nil else {
                let isEmpty = wanted == nil
                return exchange.answer(
                    isEmpty
                        ? HTTPResponse(503, headers: headers + [("Retry-After", "1")], text: "no picture yet")
                        : HTTPResponse(404, headers: headers, text: "this room has no such track"))
            }
            guard snapshots.count < limits.snapshots else {
                return exchange.answer(
                    HTTPResponse(503, headers: headers + [("Retry-After", "1")], text: "too many snapshots at once"))
            }
            lastTicket += 1
            let ticket = lastTicket
            exchange.pause()
            snapshots[ticket] = PendingSnapshot(
                exchange: exchange, format: format, headers: headers + [("Cache-Control", "no-store")],
                deadline: g_get_monotonic_time() + limits.snapshotTime.microseconds)
            media.snapshot(format) { [thread] result in thread.post { $0.snapshotIsReady(ticket, result) } }
        }
    }

    /// Answers who has waited too long.
    func tickSnapshots() {
        let now = g_get_monotonic_time()
        for (ticket, pending) in snapshots where pending.deadline < now {
            answerSnapshot(ticket, HTTPResponse(504, headers: pending.headers, text: "no picture came in time"))
        }
    }

    func answerSnapshot(_ ticket: UInt64, _ response: HTTPResponse) {
        guard let pending = snapshots.removeValue(forKey: ticket) else { return }
        pending.exchange.answer(response)
        pending.exchange.resume()
    }

    private func snapshotIsReady(_ ticket: UInt64, _ result: Result<[UInt8], SnapshotFailure>) {
        guard let pending = snapshots[ticket] else { return }
        let response =
            switch result {
            case .success(let file):
                HTTPResponse(200, headers: pending.headers, contentType: pending.format.contentType, body: file)
            case .failure(.noPicture):
                HTTPResponse(503, headers: pending.headers + [("Retry-After", "1")], text: "no picture yet")
            case .failure(.failed(let reason)):
                HTTPResponse(500, headers: pending.headers, text: "the picture can't be written: \(reason)")
            }
        answerSnapshot(ticket, response)
    }
}
