import SecureTransport
import Signalling

/// What a host's configuration says about who gets in, as the signalling takes it.
extension RoomAccess {
    /// Makes the rules of each room from its two tokens: password and time are the same for all.
    ///
    /// - Parameter expiry: when links end, in seconds since the machine started; nil: when the host does.
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

extension SignallingConfiguration {
    /// What a host's configuration says of addresses, rooms and who gets in; the first room has `firstTrack`.
    ///
    /// - Throws: what is wrong with the certificate.
    init(_ configuration: HostConfiguration, expiry: Int?, firstTrack: any RoomMedia) throws(SignallingError) {
        let access = RoomAccess.rules(of: configuration, expiry: expiry)
        let first = RoomConfiguration(
            name: configuration.room, access: access(configuration.token, configuration.presentingToken),
            media: firstTrack)
        let further = configuration.furtherRooms.map {
            RoomConfiguration(name: $0.name, access: access($0.token, $0.presentingToken))
        }
        self.init(listen: configuration.listen, rooms: [first] + further)
        tls = try configuration.certificate.map { (certificate) throws(SignallingError) in
            try TLSCertificate(certificate)
        }
        allowedOrigins = configuration.allowedOrigins
        trustedProxies = configuration.trustedProxies
        alsoOtherJoined = configuration.alsoOtherJoined
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
