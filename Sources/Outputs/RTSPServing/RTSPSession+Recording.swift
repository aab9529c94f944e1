import LinkTransport
import MediaTypes
import RTSP
import ScreenRelayKit
import Threading

extension RTSPSession {
    /// Claims a track for what a client announces.
    func announce(_ place: RTSPPlace, _ request: RTSPRequest, now: MonotonicTime) throws(SocketError) {
        let room = place.room ?? host.room
        let isProved = try prove(request) {
            access.letsPresent($0, of: address, in: room, method: request.method, nonce: nonce)
        }
        guard isProved else { return }
        isAdmitted = true
        guard try admit(request) else { return }
        let answer: RTSPAnswer
        do throws(RTSPRefusal) {
            let announcement = try RTSPAnnouncement(parsing: request.body)
            let publisher = try claim(place.track, in: room)
            recording = RTSPRecording(
                announcement, publisher, of: served, limits: limits.publishing, name: "rtsp: \(address)", log: log,
                now: now)
            answer = conversation.announced(announcement, at: place)
        } catch {
            log.info("rtsp: \(address) may not publish: \(error)")
            answer = error.answer
        }
        try send(answer, to: request)
    }

    private func claim(_ name: String?, in room: String) throws(RTSPRefusal) -> ServedPublisher {
        let place = ServedPublishers.Place(room: room, track: name)
        do throws(PublisherRefusal) {
            return try served.claim(place, for: address) { [wake] in wake.signal() }
        } catch {
            if case .taken = error {
                throw RTSPRefusal(.forbidden, "\(error); rtsp://HOST:PORT/ROOM/TRACK makes another track")
            }
            throw RTSPRefusal(.unavailable, error.description)
        }
    }

    /// Sets up an announced stream.
    func receive(
        _ index: Int, _ transport: RTSPTransport, _ request: RTSPRequest, now: MonotonicTime
    ) throws(SocketError) {
        guard let recording else { return }
        recording.setUp(index, .init(transport, of: remote), now: now)
        peerAddresses = recording.addresses
        try send(conversation.receiving(index, transport, ports: ports.numbers, source: local), to: request)
    }

    /// Begins to pass on what the client sends.
    func record(_ request: RTSPRequest, now: MonotonicTime) throws(SocketError) {
        guard let recording else { return }
        let isBegun = recording.begin(now: now)
        try send(isBegun ? conversation.recording() : RTSPAnswer(.unavailable), to: request)
    }
}
