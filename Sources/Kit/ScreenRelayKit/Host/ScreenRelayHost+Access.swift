public import SecureTransport
import Signalling
import Synchronization

extension ScreenRelayHost {
    /// The configuration, whose certificate, tokens and password may change while the host runs.
    struct Access: Sendable {
        var configuration: HostConfiguration
        /// The number of changes of tokens and password.
        var version = 0
    }

    var access: Access { current.withLock { $0 } }

    /// The host's configuration, with the certificate, the tokens and the password that it uses now.
    public var configuration: HostConfiguration { access.configuration }

    /// Uses another certificate for new connections; existing ones stay. Only for a host that was started with one.
    /// Throws `signalling` if the certificate can't be used.
    public func use(_ certificate: ServerCertificate) throws(HostError) {
        do throws(SignallingError) {
            signalling.use(try TLSCertificate(certificate))
        } catch {
            throw .signalling(error)
        }
        current.withLock { if $0.configuration.certificate != nil { $0.configuration.certificate = certificate } }
    }

    /// Uses the tokens and the password of `new` for participants and requests that come from now on; participants who
    /// are there stay. Nothing else is taken from `new`, such as further rooms or an `/api` that the host doesn't have.
    public func use(accessOf new: HostConfiguration) {
        let configuration = current.withLock { current -> HostConfiguration in
            current.configuration.use(accessOf: new)
            current.version += 1
            return current.configuration
        }
        signalling.use(RoomConfiguration.all(of: configuration, expiry: expiryTime))
        if let administration = configuration.administration {
            signalling.use(administrationToken: administration.token)
        }
    }
}

extension HostConfiguration {
    fileprivate mutating func use(accessOf new: HostConfiguration) {
        (token, presentingToken, password) = (new.token, new.presentingToken, new.password)
        for index in furtherRooms.indices {
            if let room = new.furtherRooms.first(where: { $0.name == furtherRooms[index].name }) {
                furtherRooms[index] = room
            }
        }
        if administration != nil, let new = new.administration { administration = new }
    }
}
