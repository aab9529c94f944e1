import MediaTypes
import Rooms
import Threading
import Viewer

/// Everything that the server serves. Creates the parts, and passes requests (`Protocol/http.md`) and calls from other
/// threads to them.
///
/// Belongs to its thread. `SiteThread` passes it work from other threads.
final class Site {
    let pointers: Pointers
    let presence: RoomPresence
    let presenters: Presenters
    let pointing: Pointing
    let chat: Chat
    let doors: Doors
    let commands: RoomCommands
    let sessionEnds: SessionEnds
    let frames: FrameStreams
    let snapshots: Snapshots
    let skyRTC: SkyRTCRooms
    let administration: AdministrationAPI

    private let owner = ThreadOwner()
    /// The thread that owns the site.
    private unowned let thread: SiteThread
    private let context: OpaquePointer
    private let log: LogRateLimiter
    private let warn: @Sendable (String) -> Void
    private let front: HTTPFront
    private let webSockets: WebSocketFront
    private let rooms: HostRooms
    private let admission: Admission
    private let embedding: Embedding
    private let metrics: MetricsText
    private let players: Endpoint
    private let publishers: Endpoint
    private let socketIOClients: SocketIOClients
    private let socketIO: SocketIOServer
    private var ticking: EventSource?
    /// The pages' origins that the log has named.
    private var toldOrigins: Set<String> = []
    private static let toldOriginLimit = 16

    init(
        _ configuration: SignallingConfiguration, listeners: [ListeningSocket], audience: Audience,
        pointing mayPoint: ViewerPermission, chat mayWrite: ViewerPermission, doorBoard: DoorBoard, thread: SiteThread,
        context: OpaquePointer
    ) {
        self.thread = thread
        self.context = context
        let limits = configuration.limits
        let log = LogRateLimiter(EventLog { _, line in configuration.log(line) })
        let rooms = HostRooms(configuration)
        let admission = Admission(configuration) { rooms.directory.grant(to: $0) }
        let doors = Doors(configuration, rooms: rooms, board: doorBoard, log: log)
        admission.closure = { doors.state(of: $0).reason }
        let front = HTTPFront(
            listeners, limits: limits, proxies: TrustedProxies(ranges: configuration.trustedProxies),
            certificate: configuration.tls, on: context)
        let webSockets = WebSocketFront(front, limits: limits, on: context)
        let pointers = Pointers(rooms: rooms, log: log, on: context) { work in
            thread.post { work($0.pointers) }
        }
        let presence = RoomPresence(
            configuration, rooms: rooms, pointers: pointers, doors: doors, audience: audience, log: log, on: context)
        let presenters = Presenters(configuration, rooms: rooms, log: log)
        pointing = Pointing(rooms: rooms, state: mayPoint, on: context)
        chat = Chat(configuration, rooms: rooms, state: mayWrite, on: context)
        let sessionEnds = SessionEnds { work in thread.post { work($0.sessionEnds) } }
        frames = FrameStreams(rooms: rooms, sessionEnds: sessionEnds) { work in thread.post { work($0.frames) } }
        func endpoint(for service: Endpoint.Service) -> Endpoint {
            Endpoint(
                for: service, rooms: rooms, admission: admission, presence: presence, sessionEnds: sessionEnds,
                presenters: presenters, iceServers: configuration.iceServers, log: log)
        }
        players = endpoint(for: .playing)
        publishers = endpoint(for: .publishing(configuration.publishing))
        snapshots = Snapshots(limits: limits, admission: admission, rooms: rooms) { work in
            thread.post { work($0.snapshots) }
        }
        skyRTC = SkyRTCRooms(
            configuration, rooms: rooms, admission: admission, pointers: pointers, presence: presence,
            sessionEnds: sessionEnds, frames: frames, presenters: presenters, pointing: pointing, chat: chat,
            doors: doors, log: log)
        socketIOClients = SocketIOClients(
            configuration, rooms: rooms, admission: admission, doors: doors, pointers: pointers, presence: presence,
            sessionEnds: sessionEnds, log: log)
        socketIO = SocketIOServer(
            limits: limits, webSockets: webSockets, admission: admission, clients: socketIOClients)
        commands = RoomCommands(presence: presence, presenters: presenters, doors: doors)
        administration = AdministrationAPI(
            configuration, webSockets: webSockets, admission: admission, rooms: commands)
        self.log = log
        self.rooms = rooms
        self.admission = admission
        metrics = configuration.metrics
        embedding = Embedding(origins: configuration.embeddingOrigins)
        self.front = front
        self.webSockets = webSockets
        warn = configuration.warn
        self.pointers = pointers
        self.presence = presence
        self.sessionEnds = sessionEnds
        self.presenters = presenters
        self.doors = doors

        front.admit = { [unowned self] exchange in self.admission.check(exchange) ?? socketIO.admit(exchange) }
        front.handle = { [unowned self] exchange in route(exchange) }
        front.start()
        ticking = EventSource.timer(every: limits.tick, on: context, of: self) { site in
            site.tick()
            return true
        }
    }

    /// Starts to shut down: accepts no new connections, closes the sessions, and sends WebSockets a close frame. The
    /// thread ends when all are closed, or after 500 ms.
    func stop() {
        owner.check()
        snapshots.stop()
        players.stop()
        publishers.stop()
        socketIO.stop()
        webSockets.stop()
        front.stop()
        pointers.stop()
        pointing.stop()
        chat.stop()
        presence.stop()
        var rounds = 0
        ticking = EventSource.timer(every: .milliseconds(10), on: context, of: self) { site in
            rounds += 1
            guard site.webSockets.isEmpty || rounds > 50 else { return true }
            site.webSockets.abort()
            site.thread.quit()
            return false
        }
    }

    /// Uses `certificate` for new connections, and accepts its names.
    func use(_ certificate: TLSCertificate) {
        owner.check()
        front.use(certificate)
        admission.use(certificate)
    }

    /// Uses other access rules for the rooms that have these names. Their members stay.
    func use(_ rooms: [RoomConfiguration]) {
        owner.check()
        for room in rooms { self.rooms.use(room.access, for: room.name) }
    }

    /// Requires another token for `/api`.
    func use(administrationToken token: String) {
        owner.check()
        admission.use(administrationToken: token)
    }

    private func tick() {
        owner.check()
        front.tick()
        webSockets.tick()
        skyRTC.tick()
        presenters.tick()
        doors.tick()
        socketIO.tick()
        snapshots.tick()
        log.reportWithheld()
    }
}

// MARK: - Tracks

extension Site {
    /// Adds a track to an existing room. An existing track of the same name is left as it is.
    func addTrack(_ track: TrackName, media: any RoomMedia, to room: String) {
        owner.check()
        guard skyRTC.add(media, as: TrackAddress(room: room, track: track)) else { return }
        pointers.trackAdded(to: room)
        socketIOClients.tracksChanged(in: room)
    }

    /// Removes a track, and ends all sessions that watch it.
    func removeTrack(_ track: TrackName, from room: String) {
        owner.check()
        let address = TrackAddress(room: room, track: track)
        guard rooms[address] != nil else { return }
        players.endAll(of: address)
        skyRTC.remove(address)
        pointers.trackRemoved(address)
        socketIOClients.tracksChanged(in: room)
        // Another track may be the room's first one now.
        presence.changed(in: room)
    }
}

// MARK: - Routes

extension Site {
    private func route(_ exchange: HTTPExchange) {
        owner.check()
        guard let path = exchange.path else {
            return exchange.answer(.plain(404, "there is no such page; open the invite link that the host has printed"))
        }
        if exchange.wantsWebSocket, path.isEmpty || path == ["ws"] { return upgrade(exchange) }
        switch path.first {
        case "ws" where path.count == 1 && exchange.method == "POST": explainSocket(exchange)
        case "healthz" where path.count == 1: exchange.answer(HTTPResponse(204))
        case "metrics" where path.count == 1:
            exchange.answer(admission.checkMetrics(exchange) ?? metrics.response(to: exchange))
        case "whep" where path.count == 2: players.handle(exchange, room: path[1], track: exchange.query("track"))
        case "whep" where path.count == 3: players.handle(exchange, room: path[1], session: path[2])
        case "whip" where path.count == 2: publishers.handle(exchange, room: path[1])
        case "whip" where path.count == 3: publishers.handle(exchange, room: path[1], track: path[2])
        case "whip" where path.count == 4: publishers.handle(exchange, room: path[1], session: path[3])
        case "socket.io" where path.count == 1: socketIO.handle(exchange)
        case "api": administration.handle(exchange, Array(path.dropFirst()))
        case "oembed" where path.count == 1 && embedding.isAllowed:
            exchange.answer(embedding.code(for: exchange) { admission.openRoom($0)?.name })
        case "snapshot.png" where path.count == 1: snapshots.handle(exchange, .png)
        case "snapshot.jpg" where path.count == 1: snapshots.handle(exchange, .jpeg)
        default: page(exchange, "/" + path.joined(separator: "/"))
        }
    }

    /// Answers a request for a WebSocket of SkyRTC.
    private func upgrade(_ exchange: HTTPExchange) {
        switch admission.origin(of: exchange) {
        case .ours, .allowed: break
        case .foreign(let origin):
            tellOfForeignPage(origin)
            return exchange.answer(.refusal(403))
        case .malformed: return exchange.answer(.refusal(403))
        }
        webSockets.accept(exchange) { [skyRTC] exchange, socket in
            skyRTC.open(socket, from: exchange.clientAddress)
        }
    }

    /// Tells our page why its WebSocket was refused, which browsers don't.
    private func explainSocket(_ exchange: HTTPExchange) {
        switch admission.origin(of: exchange) {
        case .ours, .allowed: exchange.answer(.plain(426, "a WebSocket is opened here", [("Upgrade", "websocket")]))
        case .foreign, .malformed: exchange.answer(.refusal(403))
        }
    }

    /// Once for each origin, and not for any number of them: a page tries again and again, and others may be hostile.
    private func tellOfForeignPage(_ origin: String) {
        guard origin != "null", origin.utf8.count <= 100, toldOrigins.count < Self.toldOriginLimit,
            toldOrigins.insert(origin).inserted
        else { return }
        warn(
            "a page of \(origin) was refused; if that is this host behind a reverse proxy, add --allow-origin \(origin)"
        )
    }

    private func page(_ exchange: HTTPExchange, _ path: String) {
        guard let file = ViewerFiles.file(path: path) else {
            return exchange.answer(.plain(404, "there is no such page; open the invite link that the host has printed"))
        }
        guard exchange.method == "GET" || exchange.method == "HEAD" else {
            return exchange.answer(.plain(405, HTTPResponse.wrongMethod("GET, HEAD"), [("Allow", "GET, HEAD")]))
        }
        // Not every browser takes 'self' to include ws: and wss: URLs. The Host header has been checked. It is left out
        // if it is an IPv6 address, for which the policy has no syntax.
        let host = Authority(exchange.header("Host") ?? "")
        let sockets =
            host.map { host in
                let authority = host.host + (host.port.map { ":\($0)" } ?? "")
                return host.host.hasPrefix("[") ? "" : " ws://\(authority) wss://\(authority)"
            } ?? ""
        // Browsers ignore it, and report that as an error, unless they trust the origin. Fetch Metadata, which they
        // send only to such origins, shows it behind a proxy that has the certificate.
        let isTrusted =
            exchange.connection?.isSecured == true || exchange.header("Sec-Fetch-Site") != nil
            || ["localhost", "127.0.0.1", "[::1]"].contains(host?.host)
        // Without asking, the page opens a round trip or two earlier. It notices itself if it is out of date. On this
        // machine that would gain nothing, and a port is soon used by something else.
        let isKept = file.compressed != nil && !Loopback.contains(exchange.clientAddress)
        let isScript = path == Embedding.scriptPath
        let policy = "\(ViewerFiles.contentSecurityPolicy); \(embedding.policy); connect-src 'self'\(sockets)"
        var headers =
            isScript ? embedding.scriptHeaders(for: admission.origin(of: exchange)) : HTTPResponse.commonHeaders
        headers += [
            ("Cache-Control", isKept ? "private, max-age=3600" : "no-cache"), ("Content-Security-Policy", policy),
            ("Permissions-Policy", ViewerFiles.permissionsPolicy), ("ETag", file.entityTag),
            ("Vary", isScript ? "Accept-Encoding, Origin" : "Accept-Encoding"),
        ]
        if isTrusted { headers.append(("Cross-Origin-Opener-Policy", "same-origin")) }
        if path == "/", embedding.isAllowed, admission.openRoom("") != nil {
            headers += embedding.discovery(for: exchange)
        }
        if exchange.header("If-None-Match") == file.entityTag {
            return exchange.answer(HTTPResponse(304, headers: headers))
        }
        if let compressed = file.compressed, exchange.accepts(encoding: "gzip") {
            let headers = headers + [("Content-Encoding", "gzip")]
            return exchange.answer(HTTPResponse(200, headers: headers, contentType: file.contentType, body: compressed))
        }
        exchange.answer(HTTPResponse(200, headers: headers, contentType: file.contentType, body: file.bytes))
    }
}
