import Clocks
import MediaTypes
import Rooms
import Synchronization

/// A request that waits for a snapshot.
private struct PendingSnapshot {
    let exchange: HTTPExchange
    let headers: HTTPHeaders
    /// When the request times out.
    let deadline: MonotonicTime
}

/// A snapshot file that is being made, or will be, for all requests that wait for it.
private final class SnapshotJob {
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
    var waiting: [PendingSnapshot]
    /// The ticket and the deadline, once the media layer has been asked; nil before.
    var underWay: (ticket: UInt64, deadline: MonotonicTime)?

    init(_ subject: Subject, media: any RoomMedia, for first: PendingSnapshot) {
        self.subject = subject
        self.media = media
        waiting = [first]
    }
}

/// `GET /snapshot.png` and `/snapshot.jpg`: the last picture of a track.
///
/// A request gets a picture that isn't older than the request. If a snapshot is being made when the request arrives,
/// the request waits, together with others, for the next one.
final class Snapshots {
    private let limits: SignallingLimits
    private let admission: Admission
    private let rooms: HostRooms
    private let post: Post<Snapshots>
    /// The snapshots that are being made or wait to be, in order of request.
    private var jobs: [SnapshotJob] = []
    private var lastTicket: UInt64 = 0
    /// The snapshot data that clients haven't read yet.
    private let unread = UnreadSnapshots()

    init(limits: SignallingLimits, admission: Admission, rooms: HostRooms, post: @escaping Post<Snapshots>) {
        self.limits = limits
        self.admission = admission
        self.rooms = rooms
        self.post = post
    }

    func handle(_ exchange: HTTPExchange, _ format: SnapshotFormat) {
        switch admission.admit(exchange, to: exchange.query("room") ?? "") {
        case .refused(let response): exchange.answer(response)
        case .admitted(let room, let headers):
            guard ["GET", "HEAD"].contains(exchange.method) else {
                return exchange.answer(
                    .wrongMethod("GET, HEAD", headers))
            }
            let wanted = exchange.query("track")
            let track = wanted.flatMap { TrackName($0) }
            guard let address = rooms.address(of: track, in: room.name), let media = rooms[address]?.media,
                wanted == nil || track != nil
            else {
                return exchange.answer(
                    wanted == nil
                        ? Self.notNow("no picture yet", headers)
                        : HTTPResponse(404, headers: headers, text: "this room has no such track"))
            }
            guard jobs.reduce(0, { $0 + $1.waiting.count }) < limits.snapshots else {
                return exchange.answer(Self.notNow("too many snapshots are being made; try again in a moment", headers))
            }
            guard unread.byteCount < limits.snapshotBytes else {
                return exchange.answer(Self.notNow(Self.tooMuchUnread, headers))
            }
            exchange.pause()
            let subject = SnapshotJob.Subject(track: address, format: format)
            let pending = PendingSnapshot(
                exchange: exchange, headers: headers + [("Cache-Control", "no-store")],
                deadline: .now() + limits.snapshotTime)
            if let job = jobs.first(where: { $0.subject == subject && $0.underWay == nil }) {
                job.waiting.append(pending)
            } else {
                jobs.append(SnapshotJob(subject, media: media, for: pending))
            }
            startJobs()
        }
    }

    /// Answers requests that have waited too long, and drops those whose client has disconnected.
    func tick() {
        guard !jobs.isEmpty else { return }
        let now = MonotonicTime.now()
        for job in jobs {
            dropGone(of: job)
            for pending in job.waiting where pending.deadline < now {
                Self.answer(
                    pending, HTTPResponse(504, headers: pending.headers, text: "no picture came in time; try again"))
            }
            job.waiting.removeAll { $0.deadline < now }
            if job.waiting.isEmpty { job.demand.end() }
        }
        jobs.removeAll { $0.waiting.isEmpty && ($0.underWay.map { $0.deadline < now } ?? true) }
        startJobs()
    }

    /// Answers all waiting requests, because the host is ending.
    func stop() {
        let ending = jobs
        jobs = []
        for job in ending {
            job.demand.end()
            for pending in job.waiting { Self.answer(pending, HTTPResponse(503, text: "the host is ending")) }
        }
    }

    private static let tooMuchUnread = "too many snapshots have not been read yet; try again in a moment"

    private func noPicture(of track: TrackAddress) -> String {
        switch rooms[track]?.state {
        case .live: "the source has sent no picture that can be decoded; the host's log may say why"
        case .paused(.sharer): "the sharer has paused"
        case .paused(.screenLocked): "the screen is locked"
        case .paused(.windowHidden): "what is shared isn't on the screen just now"
        case .waiting, .gone, nil: "no picture yet"
        }
    }

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
    private func startJobs() {
        var busy = Set(jobs.filter { $0.underWay != nil }.map(\.subject))
        for job in jobs where job.underWay == nil {
            guard busy.count < limits.snapshotsUnderWay else { break }
            guard !busy.contains(job.subject) else { continue }
            dropGone(of: job)
            if unread.byteCount >= limits.snapshotBytes {
                for pending in job.waiting { Self.answer(pending, Self.notNow(Self.tooMuchUnread, pending.headers)) }
                job.waiting = []
            }
            guard !job.waiting.isEmpty else { continue }
            busy.insert(job.subject)
            start(job)
        }
        jobs.removeAll { $0.waiting.isEmpty && $0.underWay == nil }
    }

    private func start(_ job: SnapshotJob) {
        lastTicket += 1
        let ticket = lastTicket
        job.underWay = (ticket, MonotonicTime.now() + limits.snapshotTime)
        job.media.snapshot(job.subject.format, isWanted: { [demand = job.demand] in demand.isWanted }) {
            [post] result in
            post { $0.isReady(ticket, result) }
        }
    }

    private func isReady(_ ticket: UInt64, _ result: Result<SnapshotFile, SnapshotError>) {
        guard let index = jobs.firstIndex(where: { $0.underWay?.ticket == ticket }) else { return }
        let job = jobs.remove(at: index)
        dropGone(of: job)
        for pending in job.waiting {
            let response =
                switch result {
                case .success(let file):
                    HTTPResponse(
                        200, headers: pending.headers, contentType: job.subject.format.contentType,
                        snapshot: UnreadSnapshot(file, unread))
                case .failure(.noPicture): Self.notNow(noPicture(of: job.subject.track), pending.headers)
                case .failure(.failed(let reason)):
                    HTTPResponse(500, headers: pending.headers, text: "the picture can't be written: \(reason)")
                }
            Self.answer(pending, response)
        }
        startJobs()
    }
}
