import SecureTransport
import Signalling

/// Converts a host's configuration into the signalling's access rules.
extension RoomAccess {
    /// Returns a function that makes the access rules of a room from its two tokens. The password and the expiry are
    /// the same for all rooms.
    ///
    /// - Parameter expiry: when links expire, in seconds since the machine started, or nil if they last until the host
    ///   ends.
    static func rules(
        of configuration: HostConfiguration, expiry: Int?
    ) -> (_ viewing: String?, _ presenting: String?) -> RoomAccess {
        let hash = configuration.password.map { PasswordHash($0) }
        return { viewing, presenting in
            var access = RoomAccess(viewing: viewing, presenting: presenting, expiry: expiry)
            if let hash { access.isPassword = { hash.matches($0) } }
            return access
        }
    }
}

extension RoomConfiguration {
    /// The rooms of a host's configuration, with their access rules. The first room comes first.
    static func all(of configuration: HostConfiguration, expiry: Int?) -> [RoomConfiguration] {
        let access = RoomAccess.rules(of: configuration, expiry: expiry)
        let first = (configuration.room, access(configuration.token, configuration.presentingToken))
        let further = configuration.furtherRooms.map { ($0.name, access($0.token, $0.presentingToken)) }
        return ([first] + further).map { name, access in
            var room = RoomConfiguration(name: name, access: access)
            room.hasWaitingRoom = configuration.hasWaitingRoom
            return room
        }
    }
}

extension SignallingConfiguration {
    /// Takes addresses, rooms and access rules from a host's configuration.
    ///
    /// - Throws: an error that says what is wrong with the certificate.
    init(_ configuration: HostConfiguration, expiry: Int?) throws(SignallingError) {
        self.init(
            listen: configuration.listen, rooms: RoomConfiguration.all(of: configuration, expiry: expiry))
        tls = try configuration.certificate.map { (certificate) throws(SignallingError) in
            try TLSCertificate(certificate)
        }
        allowedOrigins = configuration.allowedOrigins
        embeddingOrigins = configuration.embeddingOrigins
        acceptsTurnRequests = configuration.acceptsTurnRequests
        trustedProxies = configuration.trustedProxies
        alsoOtherJoined = configuration.alsoOtherJoined
        pairRooms = configuration.pairRooms
        iceServers = configuration.iceServers
        camera = configuration.camera
        lan = configuration.isOpenToNetwork
        hostNames = configuration.hostNames
        administration = configuration.administration
    }
}

extension TLSCertificate {
    convenience init(_ certificate: ServerCertificate) throws(SignallingError) {
        try self.init(pem: certificate.pem, names: certificate.names)
    }
}
