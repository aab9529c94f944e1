import Foundation
import Rooms
import Synchronization

/// The appearance of a room's pointer.
public struct PointerShape: Sendable, Equatable {
    /// Columns and rows; 0 by 0 for an invisible pointer.
    public let width: Int
    public let height: Int
    /// The pixel that points, measured from the top left corner.
    public let hotX: Int
    public let hotY: Int
    /// Pixels with premultiplied alpha, row by row: alpha in the highest byte, then red, green, blue.
    public let pixels: [UInt32]

    /// Creates a shape; nil unless there are `width` times `height` pixels and at most 128 in each direction.
    public init?(width: Int, height: Int, hotX: Int, hotY: Int, pixels: [UInt32]) {
        guard (0...128).contains(width), (0...128).contains(height), pixels.count == width * height else { return nil }
        self.width = width
        self.height = height
        self.hotX = hotX
        self.hotY = hotY
        self.pixels = pixels
    }
}

/// The position of a room's pointer.
public struct PointerPlace: Sendable, Equatable {
    /// The hot spot, in pixels of the picture from the top left corner.
    public var x: Int
    public var y: Int
    /// Whether the pointer is over what is shared.
    public var isVisible: Bool
    /// The size of the picture that `x` and `y` refer to; 0 by 0 if unknown.
    public var width: Int
    public var height: Int

    /// Creates a place in a picture of that size.
    public init(x: Int, y: Int, isVisible: Bool, width: Int = 0, height: Int = 0) {
        self.x = x
        self.y = y
        self.isVisible = isVisible
        self.width = width
        self.height = height
    }

}

/// A change of a room's pointer.
public enum PointerUpdate: Sendable, Equatable {
    /// The new appearance.
    case shape(PointerShape)
    /// The new position.
    case place(PointerPlace)
    /// Whether the source can leave the pointer out of the pictures and report its position.
    case ability(Bool)
    /// Whether the pointer is drawn into the pictures published from now on.
    case pictures(areDrawn: Bool)
    /// The number of readers of the track that can't draw the pointer, besides viewers and players: recordings and
    /// outputs.
    case readers(Int)
}

/// Updates that the site's thread hasn't taken yet. Only the latest of each kind is kept, so the size is bounded.
struct PointerNews: Sendable {
    var shape: PointerShape?
    var place: PointerPlace?
    var ability: Bool?
    var arePicturesDrawn: Bool?
    var readers: Int?

    mutating func note(_ update: PointerUpdate) {
        switch update {
        case .shape(let shape): self.shape = shape
        case .place(let place): self.place = place
        case .ability(let ability): self.ability = ability
        case .pictures(let areDrawn): arePicturesDrawn = areDrawn
        case .readers(let readers): self.readers = readers
        }
    }
}

/// The place where other threads leave updates of each track's pointer.
final class PointerBoard: Sendable {
    /// Identifies a pointer: that of a track, or of the room's first track.
    struct Key: Hashable {
        let room: String
        let track: TrackName?
    }

    private let news = Mutex<[Key: PointerNews]>([:])

    /// Stores `update`. Returns true if the site's thread must be notified.
    func note(_ update: PointerUpdate, _ key: Key) -> Bool {
        news.withLock { news in
            let isFirst = news[key] == nil
            news[key, default: PointerNews()].note(update)
            return isFirst
        }
    }

    func take(_ key: Key) -> PointerNews? {
        news.withLock { $0.removeValue(forKey: key) }
    }
}

/// The pointer's events as JSON. They are written by hand, because they have no text to escape and a position is sent
/// 60 times a second. `track` is nil if the room has never had more than one.
enum PointerEvent {
    /// `_pointer_shape`: the pixels with straight alpha, as base64 of RGBA bytes, which is the format of a canvas.
    static func shape(_ shape: PointerShape, track: TrackName? = nil) -> String {
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
            "height":\(shape.height),"hotX":\(shape.hotX),"hotY":\(shape.hotY),\
            "pixels":"\(Data(bytes).base64EncodedString())","width":\(shape.width)
            """, track)
    }

    /// `_pointer`.
    static func place(_ place: PointerPlace, track: TrackName? = nil) -> String {
        let size = place.width > 0 && place.height > 0
        return event(
            "_pointer",
            """
            \(size ? "\"height\":\(place.height)," : "")"visible":\(place.isVisible),\
            \(size ? "\"width\":\(place.width)," : "")"x":\(place.x),"y":\(place.y)
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
