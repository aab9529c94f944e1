public import MediaTypes
import Synchronization

/// A stream's pictures over and over, for a source that makes a key frame when it is asked for one. May be used on any
/// thread.
public final class LoopedPictures: Sendable {
    /// The pictures of one round; the first one is a key frame.
    public let round: [CodedFrame]
    private let place = Mutex(0)

    public init(_ round: [CodedFrame]) { self.round = round }

    /// Makes the key frame at the beginning the next picture.
    public func startOver() { place.withLock { $0 = 0 } }

    /// The next picture to write.
    public func next() -> CodedFrame {
        place.withLock { place in
            defer { place = (place + 1) % round.count }
            return round[place]
        }
    }

    /// Where in a round each of these pictures stands; -1 for one that isn't in it.
    public func places(of received: [CodedFrame]) -> [Int] {
        received.map { picture in round.firstIndex { $0.slices == picture.slices } ?? -1 }
    }

    /// Whether these are its pictures, byte for byte, one after another without a gap; it may have started over.
    public func contains(_ received: [CodedFrame]) -> Bool {
        let places = places(of: received)
        return !places.contains(-1) && zip(places, places.dropFirst()).allSatisfy { $1 == $0 + 1 || $1 == 0 }
    }
}
