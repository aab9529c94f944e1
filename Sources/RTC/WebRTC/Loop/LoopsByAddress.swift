import MediaSessions
import MediaTypes
import STUN
import Synchronization

/// The loop that each peer's UDP address belongs to, for all loops of a server. ``SessionsByAddress`` of each loop
/// writes it, so that no two loops give an address to sessions of theirs, and the loop that receives reads it.
///
/// May be used on any thread. The lock is held only for a look into a dictionary.
final class LoopsByAddress: Sendable {
    private struct Holder {
        let loop: Int
        let session: MediaSessionID
        var reservation = AddressReservation()
    }

    private let holders = Mutex<[TransportAddress: Holder]>([:])

    /// The loop of the session at `address`; nil if there is none.
    subscript(address: TransportAddress) -> Int? {
        holders.withLock { holders in holders[address]?.loop }
    }

    /// The result of a claim to an address by a session of `loop`; nil if no session of another loop has the address.
    func claim(_ address: TransportAddress, in loop: Int, now: MonotonicTime) -> SessionsByAddress.Claim? {
        holders.withLock { holders in
            guard let holder = holders[address], holder.loop != loop else { return nil }
            return holder.reservation.claim(now: now)
        }
    }

    /// Assigns `address` to `session` of `loop`, unless another session has it.
    func assignIfFree(_ address: TransportAddress, to session: MediaSessionID, in loop: Int) {
        holders.withLock { holders in
            if holders[address] == nil { holders[address] = Holder(loop: loop, session: session) }
        }
    }

    /// Assigns `address` to `session` of `loop`. Returns false if a session of another loop keeps it, because its peer
    /// was heard there.
    func assign(
        _ address: TransportAddress, to session: MediaSessionID, in loop: Int, _ reservation: AddressReservation,
        now: MonotonicTime
    ) -> Bool {
        holders.withLock { holders in
            if let holder = holders[address], holder.loop != loop, now < holder.reservation.heardUntil { return false }
            holders[address] = Holder(loop: loop, session: session, reservation: reservation)
            return true
        }
    }

    /// Notes how long `session` keeps `address`. Returns false if the address isn't the session's any more.
    func extend(_ address: TransportAddress, of session: MediaSessionID, _ reservation: AddressReservation) -> Bool {
        holders.withLock { holders in
            guard holders[address]?.session == session else { return false }
            holders[address]?.reservation = reservation
            return true
        }
    }

    /// Frees `address`, if it is the session's.
    func free(_ address: TransportAddress, of session: MediaSessionID) {
        holders.withLock { holders in
            if holders[address]?.session == session { holders[address] = nil }
        }
    }
}
