import CGLib
import Rooms
import Synchronization

/// A request that waits for a snapshot.
struct PendingSnapshot {
    let exchange: HTTPExchange
    let headers: HTTPHeaders
    /// When the request times out (g_get_monotonic_time).
    let deadline: Int
}

/// A snapshot file that is being made, or will be, for all requests that wait for it.
final class SnapshotJob {
    /// The track and format of the file.
    struct Subject: Hashable {
        let track: TrackAddress
        let format: SnapshotFormat
    }

    /// Whether any request still waits. The media layer reads this.
    final class Demand: Sendable {
        private let isThere = Mutex(true)
        var isWanted: Bool { isThere.withLock { $0 } }
        func end() { isThere.withLock { $0 = false } }
    }

    let subject: Subject
    let media: any RoomMedia
    let demand = Demand()
    var waiting: [PendingSnapshot] = []
    /// The ticket and the deadline (g_get_monotonic_time), once the media layer has been asked; nil before.
    var underWay: (ticket: UInt64, deadline: Int)?

    init(_ subject: Subject, media: any RoomMedia) {
        self.subject = subject
        self.media = media
    }
}

/// `GET /snapshot.png` and `/snapshot.jpg`: the last picture of a track.
///
/// A request gets a picture that isn't older than the request. If a snapshot is being made when the request arrives,
/// the request waits, together with others, for the next one.
extension Site {
    func snapshot(_ exchange: HTTPExchange, _ format: SnapshotFormat) {
        switch admit(exchange, to: exchange.query("room") ?? "") {
        case .refused(let response): exchange.answer(response)
        case .admitted(let room, let headers):
            guard ["GET", "HEAD"].contains(exchange.method) else {
                return exchange.answer(
                    HTTPResponse(405, headers: headers + [("Allow", "GET, HEAD")], text: "not possible"))
            }
            let wanted = exchange.query("track")
            let track = wanted.flatMap { TrackName($0) }
            guard let media = media[room.name, track], let address = address(of: track, in: room.name),
                wanted == nil || track != nil
            else {
                let isEmpty = wanted == nil
                return exchange.answer(
                    isEmpty
                        ? Self.notNow("no picture yet", headers)
                        : HTTPResponse(404, headers: headers, text: "this room has no such track"))
            }
            guard snapshotJobs.reduce(0, { $0 + $1.waiting.count }) < limits.snapshots else {
                return exchange.answer(Self.notNow("too many snapshots at once", headers))
            }
            guard unreadSnapshots.byteCount < limits.snapshotBytes else {
                return exchange.answer(Self.notNow(Self.tooMuchUnread, headers))
            }
            exchange.pause()
            let subject = SnapshotJob.Subject(track: address, format: format)
            let job = snapshotJobs.first { $0.subject == subject && $0.underWay == nil }
            let pending = PendingSnapshot(
                exchange: exchange, headers: headers + [("Cache-Control", "no-store")],
                deadline: g_get_monotonic_time() + limits.snapshotTime.microseconds)
            if let job {
                job.waiting.append(pending)
            } else {
                let new = SnapshotJob(subject, media: media)
                new.waiting = [pending]
                snapshotJobs.append(new)
            }
            startSnapshots()
        }
    }

    /// Answers requests that have waited too long, and drops those whose client has disconnected.
    func tickSnapshots() {
        guard !snapshotJobs.isEmpty else { return }
        let now = g_get_monotonic_time()
        for job in snapshotJobs {
            dropGone(of: job)
            for pending in job.waiting where pending.deadline < now {
                Self.answer(pending, HTTPResponse(504, headers: pending.headers, text: "no picture came in time"))
            }
            job.waiting.removeAll { $0.deadline < now }
            if job.waiting.isEmpty { job.demand.end() }
        }
        snapshotJobs.removeAll { $0.waiting.isEmpty && ($0.underWay.map { $0.deadline < now } ?? true) }
        startSnapshots()
    }

    /// Answers all waiting requests, because the host is ending.
    func endSnapshots() {
        let jobs = snapshotJobs
        snapshotJobs = []
        for job in jobs {
            job.demand.end()
            for pending in job.waiting { Self.answer(pending, HTTPResponse(503, text: "the host is ending")) }
        }
    }

    private static let tooMuchUnread = "too many snapshots have not been read yet"

    private static func notNow(_ why: String, _ headers: HTTPHeaders) -> HTTPResponse {
        HTTPResponse(503, headers: headers + [("Retry-After", "1")], text: why)
    }

    private static func answer(_ pending: PendingSnapshot, _ response: HTTPResponse) {
        pending.exchange.answer(response)
        pending.exchange.resume()
    }

    /// Drops requests whose client has disconnected.
    private func dropGone(of job: SnapshotJob) {
        for pending in job.waiting where pending.exchange.clientIsGone {
            Self.answer(pending, Self.notNow("nobody waits", pending.headers))
        }
        job.waiting.removeAll { $0.exchange.clientIsGone }
    }

    /// Asks the media layer for waiting snapshots, up to the limit, and for each track and format one at a time.
    private func startSnapshots() {
        var busy = Set(snapshotJobs.filter { $0.underWay != nil }.map(\.subject))
        for job in snapshotJobs where job.underWay == nil {
            guard busy.count < limits.snapshotsUnderWay else { break }
            guard !busy.contains(job.subject) else { continue }
            dropGone(of: job)
            if unreadSnapshots.byteCount >= limits.snapshotBytes {
                for pending in job.waiting { Self.answer(pending, Self.notNow(Self.tooMuchUnread, pending.headers)) }
                job.waiting = []
            }
            guard !job.waiting.isEmpty else { continue }
            busy.insert(job.subject)
            start(job)
        }
        snapshotJobs.removeAll { $0.waiting.isEmpty && $0.underWay == nil }
    }

    private func start(_ job: SnapshotJob) {
        lastTicket += 1
        let ticket = lastTicket
        job.underWay = (ticket, g_get_monotonic_time() + limits.snapshotTime.microseconds)
        job.media.snapshot(job.subject.format, isWanted: { [demand = job.demand] in demand.isWanted }) {
            [thread] result in
            thread.post { $0.snapshotIsReady(ticket, result) }
        }
    }

    private func snapshotIsReady(_ ticket: UInt64, _ result: Result<SnapshotFile, SnapshotFailure>) {
        guard let index = snapshotJobs.firstIndex(where: { $0.underWay?.ticket == ticket }) else { return }
        let job = snapshotJobs.remove(at: index)
        dropGone(of: job)
        for pending in job.waiting {
            let response =
                switch result {
                case .success(let file):
                    HTTPResponse(
                        200, headers: pending.headers, contentType: job.subject.format.contentType,
                        snapshot: UnreadSnapshot(file, unreadSnapshots))
                case .failure(.noPicture): Self.notNow("no picture yet", pending.headers)
                case .failure(.failed(let reason)):
                    HTTPResponse(500, headers: pending.headers, text: "the picture can't be written: \(reason)")
                }
            Self.answer(pending, response)
        }
        startSnapshots()
    }
}
