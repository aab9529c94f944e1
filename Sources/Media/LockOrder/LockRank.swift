#if DEBUG
    import Glibc
#endif

/// The place of a lock in the order in which one thread may take several: a lock is only taken under those before it.
///
/// Only locks that are taken under another one, or that are held meanwhile, have a rank. The architecture's page on
/// locks says why each of them is.
public enum LockRank: UInt8, Sendable, CaseIterable {
    /// The list of a host's tracks.
    case hostTracks = 1
    /// How many readers of a room don't draw the pointer.
    case pointerlessReaders
    /// The events that `share` prints.
    case sharingNews
    /// The frames that wait for a push's thread.
    case pushInbox
    /// A track, in its hub.
    case trackHub
    /// The tracks and settings that the server of rooms knows.
    case signallingServer
    /// A queue or a board that is filled under other locks. No other lock with a rank is taken under it.
    case innermost
}

/// Checks in a debug build that a thread takes a lock in its order. A release build stores nothing and checks nothing.
@usableFromInline
struct LockOrderCheck: Sendable {
    #if DEBUG
        @usableFromInline let rank: LockRank
    #endif

    @inlinable
    init(_ rank: LockRank) {
        #if DEBUG
            self.rank = rank
        #endif
    }

    /// Traps in a debug build if the thread holds a lock that comes later in the order, or another one of this rank.
    @inlinable
    func willLock() {
        #if DEBUG
            HeldRanks.push(rank)
        #endif
    }

    @inlinable
    func didUnlock() {
        #if DEBUG
            HeldRanks.pop(rank)
        #endif
    }
}

#if DEBUG
    /// The ranks of the locks that the calling thread holds, one bit for each.
    @usableFromInline
    enum HeldRanks {
        private static let key = {
            var key = pthread_key_t()
            precondition(pthread_key_create(&key, nil) == 0, "no key for the thread's locks")
            return key
        }()

        private static var ranks: UInt {
            get { UInt(bitPattern: pthread_getspecific(key)) }
            set { pthread_setspecific(key, UnsafeRawPointer(bitPattern: newValue)) }
        }

        @usableFromInline
        static func push(_ rank: LockRank) {
            let held = ranks
            precondition(
                held < 1 << UInt(rank.rawValue),
                "the lock \(rank) is taken under \(names(held)), which comes after it or is its equal")
            ranks = held | 1 << UInt(rank.rawValue)
        }

        @usableFromInline
        static func pop(_ rank: LockRank) { ranks &= ~(1 << UInt(rank.rawValue)) }

        private static func names(_ ranks: UInt) -> String {
            LockRank.allCases.filter { ranks & 1 << UInt($0.rawValue) != 0 }.map { "\($0)" }.joined(separator: ", ")
        }
    }
#endif
