import SecureTransport
import Signalling

/// What a host's configuration says about who gets in, as the signalling takes it.
extension RoomAccess {
    /// Makes the rules of each room from its two tokens: password and time are the same for all.
    static func rules(
        of configuration: HostConfiguration
    ) -> (_ viewing: String?, _ presenting: String?) -> RoomAccess {
        let hash = configuration.password.map { PasswordHash($0) }
        let expiry = configuration.lifetime.map {
            SignallingConfiguration.bootTime() + Int(max(1, $0.components.seconds))
        }
        return { viewing, presenting in
            var access = RoomAccess(viewing: viewing, presenting: presenting, expiry: expiry)
            if let hash { access.isPassword = { hash.matches($0) } }
            return access
        }
    }
}

extension TLSCertificate {
    convenience init(_ certificate: ServerCertificate) throws(SignallingError) {
        try self.init(pem: certificate.pem, names: certificate.names)
    }
}
