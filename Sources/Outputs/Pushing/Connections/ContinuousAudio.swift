/// Decides how the sound of a connection goes on without a gap, as servers and players of other protocols expect: a
/// source sends nothing while it is silent or muted, and packets are lost on their way.
///
/// A pure value without a clock. Times and lengths are samples at 48 kHz, times from the origin of the track's
/// timeline.
struct ContinuousAudio {
    /// The next part of the audio.
    struct Piece: Hashable {
        enum Content: Hashable {
            /// The packet that was given.
            case packet
            /// A concealment of the loss of a packet or a few.
            case concealment
            case silence
        }

        var content: Content
        var time: Int64
        var length: Int64
    }

    /// The longest gap that counts as a loss.
    private static let maxLoss: Int64 = 2880
    /// How long a packet may take beyond the usual before there is silence in its place: 200 ms.
    private static let timeout: Int64 = 9600
    /// Silence comes in pieces of 40 ms.
    private static let step: Int64 = 1920
    /// The most that packets are expected to be late: 10 s, the longest delay at which a track still trusts its
    /// source's times. Audio later than expected would never be heard.
    private static let maxDelay: Int64 = 480_000
    /// How long it takes until a delay counts for a third: 3 s of sound, whatever its packets last.
    private static let memory: Int64 = 144_000

    /// The end of the audio so far.
    private(set) var end: Int64
    /// How late packets arrive: the highest delay of the last seconds.
    private var delay: Int64 = 0
    private var isSilent = true

    /// Begins at `start`, with silence up to the first packet.
    init(from start: Int64) {
        end = start
    }

    /// When silence is due if no packet comes.
    var due: Int64 { end + delay + Self.timeout + Self.step }

    /// Accepts a packet that arrived at `arrival`. Returns the pieces missing before it, and the packet; nothing if the
    /// packet begins before `end`, because it is too late.
    mutating func take(at time: Int64, length: Int64, arrival: Int64) -> [Piece] {
        delay = min(max(arrival - (time + length), delay - delay * length / Self.memory), Self.maxDelay)
        guard time >= end else { return [] }
        var pieces: [Piece] = []
        let gap = time - end
        if gap > 0 {
            // The last decoded audio doesn't go on after a silence.
            let isLoss = gap <= Self.maxLoss && !isSilent
            pieces.append(Piece(content: isLoss ? .concealment : .silence, time: end, length: gap))
        }
        pieces.append(Piece(content: .packet, time: time, length: length))
        end = time + length
        isSilent = false
        return pieces
    }

    /// The silence up to `now`, as far as no packet is still expected; nil if there is none yet.
    mutating func silence(until now: Int64) -> Piece? {
        let length = (now - Self.timeout - delay - end) / Self.step * Self.step
        guard length > 0 else { return nil }
        defer {
            end += length
            isSilent = true
        }
        return Piece(content: .silence, time: end, length: length)
    }
}
