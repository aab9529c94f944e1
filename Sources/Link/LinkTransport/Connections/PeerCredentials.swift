import CLinux
import Glibc

/// The user at the other end of a connected Unix socket (SO_PEERCRED, unix(7)), as reported by the kernel and not by
/// the peer.
struct PeerCredentials {
    let user: UInt32

    init(user: UInt32) {
        self.user = user
    }

    init(of socket: borrowing FileDescriptor) throws(SocketError) {
        var credentials = shim_ucred()
        let number = socket.rawValue
        try systemCall("getsockopt(SO_PEERCRED)") { shim_peer_credentials(number, &credentials) }
        user = credentials.uid
    }

    /// Throws unless the other end belongs to this process's user or to root.
    func check(ourUser: UInt32 = geteuid()) throws(SocketError) {
        if user != ourUser && user != 0 { throw .foreignPeer(peerUser: user, ourUser: ourUser) }
    }
}
