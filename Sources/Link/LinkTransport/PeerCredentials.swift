import CLinux
import Glibc

/// Who made the other end of a connected Unix socket (SO_PEERCRED, unix(7)): the kernel's word, not the peer's.
struct PeerCredentials {
    let user: UInt32

    init(user: UInt32) {
        self.user = user
    }

    init(of socket: borrowing FileDescriptor) throws(LinkTransportError) {
        var credentials = shim_ucred()
        let number = socket.rawValue
        try systemCall("getsockopt(SO_PEERCRED)") { shim_peer_credentials(number, &credentials) }
        user = credentials.uid
    }

    /// Only our own user and root may be on the other end.
    func check(ourUser: UInt32 = geteuid()) throws(LinkTransportError) {
        if user != ourUser && user != 0 { throw .foreignPeer(peerUser: user, ourUser: ourUser) }
    }
}
