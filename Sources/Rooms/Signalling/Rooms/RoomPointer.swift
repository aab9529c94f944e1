import FoundationEssentials
import LockOrder
import MediaTypes
import Rooms

/// Updates that the site's thread hasn't taken yet. Only the latest of each kind is kept, so the size is bounded.
struct PointerNews: Sendable {
    var shape: CursorImage?
    var place: PointerPlace?
    /// Whether the source can leave the pointer out of its pictures.
    var ability: Bool?
    var arePicturesDrawn: Bool?
    /// The number of readers of the track that can't draw the pointer, besides viewers and players.
    var readers: Int?

    mutating func note(_ report: PointerReport) {
        switch report {
        case .shape(let image): shape = image
        case .position(let position, let size): place = PointerPlace(position: position, size: size)
        case .lost: place = PointerPlace(position: PointerPosition(x: 0, y: 0, isVisible: false))
        case .ability(let tellsPointer): ability = tellsPointer
        case .pictures(let areDrawn): arePicturesDrawn = areDrawn
        }
    }
}

/// The position of a room's pointer, in a picture of that size if it is known.
struct PointerPlace: Sendable {
    var position: PointerPosition
    var size: PictureSize?
}

/// The place where other threads leave updates of each track's pointer.
final class PointerBoard: Sendable {
    /// Identifies a track's pointer; without a track, the pointer of the room's first track.
    struct Key: Hashable {
        let room: String
        let track: TrackName?
    }

    private let news = RankedMutex<[Key: PointerNews]>([:], .innermost)

    /// Changes what is stored for a pointer. Returns true if the site's thread must be notified.
    func change(_ key: Key, _ change: (inout PointerNews) -> Void) -> Bool {
        news.withLock { news in
            let isFirst = news[key] == nil
            change(&news[key, default: PointerNews()])
            return isFirst
        }
    }

    func take(_ key: Key) -> PointerNews? {
        news.withLock { $0.removeValue(forKey: key) }
    }
}

/// The pointer's events as JSON. They are written by hand, because they have no text to escape and a position is sent
/// 60 times per second. `track` is nil if the room has never had more than one.
enum PointerEvent {
    /// `_pointer_shape`: the pixels with straight alpha, as base64 of RGBA bytes, which is the format of a canvas.
    static func shape(_ shape: CursorImage, track: TrackName? = nil) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(shape.pixels.count * 4)
        for pixel in shape.pixels {
            let alpha = pixel >> 24
            func straight(_ shift: UInt32) -> UInt8 {
                alpha == 0 ? 0 : UInt8(min(255, ((pixel >> shift & 0xFF) * 255 + alpha / 2) / alpha))
            }
            bytes += [straight(16), straight(8), straight(0), UInt8(alpha)]
        }
        return event(
            "_pointer_shape",
            """
            "height":\(shape.size.height),"hotX":\(shape.hotX),"hotY":\(shape.hotY),\
            "pixels":"\(Data(bytes).base64EncodedString())","width":\(shape.size.width)
            """, track)
    }

    /// `_pointer`.
    static func place(_ place: PointerPlace, track: TrackName? = nil) -> String {
        let size = place.size.flatMap { $0.width > 0 && $0.height > 0 ? $0 : nil }
        return event(
            "_pointer",
            """
            \(size.map { "\"height\":\($0.height)," } ?? "")"visible":\(place.position.isVisible),\
            \(size.map { "\"width\":\($0.width)," } ?? "")"x":\(place.position.x),"y":\(place.position.y)
            """, track)
    }

    /// `_pointer_mode`; `rtp` is the RTP timestamp of the first picture it applies to.
    static func mode(isDrawn: Bool, rtp: UInt32? = nil, track: TrackName? = nil) -> String {
        event("_pointer_mode", "\"drawn\":\(isDrawn)\(rtp.map { ",\"rtp\":\($0)" } ?? "")", track)
    }

    private static func event(_ name: String, _ data: String, _ track: TrackName?) -> String {
        // The characters of a track's name need no escaping in JSON.
        "{\"data\":{\(data)\(track.map { ",\"track\":\"\($0)\"" } ?? "")},\"eventName\":\"\(name)\"}"
    }
}
