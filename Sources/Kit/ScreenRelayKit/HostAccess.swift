import SecureTransport
import Signalling

/// What a host's configuration says about who gets in, as the signalling takes it.
extension RoomAccess {
    init(_ configuration: HostConfiguration) {
        self.init(viewing: configuration.token, presenting: configuration.presentingToken)
        if let lifetime = configuration.lifetime {
            expiry = SignallingConfiguration.bootTime() + Int(max(1, lifetime.components.seconds))
        }
        if let password = configuration.password {
            let hash = PasswordHash(password)
            isPassword = { hash.matches($0) }
        }
    }
}

extension TLSCertificate {
    convenience init(_ certificate: ServerCertificate) throws(SignallingError) {
        try self.init(pem: certificate.pem, names: certificate.names)
    }
}
