import Foundation
import Rooms
import Synchronization

/// What a room's pointer looks like.
public struct PointerShape: Sendable, Equatable {
    /// Columns and rows; 0 by 0 for a pointer that can't be seen.
    public let width: Int
    public let height: Int
    /// The pixel that points, from the top left corner.
    public let hotX: Int
    public let hotY: Int
    /// Premultiplied alpha, row by row: alpha in the highest byte, then red, green, blue.
    public let pixels: [UInt32]

    /// A shape; nil where there are not `width` times `height` pixels, or more than 128 a side.
    public init?(width: Int, height: Int, hotX: Int, hotY: Int, pixels: [UInt32]) {
        guard (0...128).contains(width), (0...128).contains(height), pixels.count == width * height else { return nil }
        self.width = width
        self.height = height
        self.hotX = hotX
        self.hotY = hotY
        self.pixels = pixels
    }
}

/// Where a room's pointer is.
public struct PointerPlace: Sendable, Equatable {
    /// Its hot spot, in pixels of the picture from the top left corner.
    public var x: Int
    public var y: Int
    /// Whether it is on what is shared at all.
    public var isVisible: Bool
    /// The size of the picture that `x` and `y` are pixels of; 0 by 0 where that isn't known.
    public var width: Int
    public var height: Int

    /// A place in a picture of that size.
    public init(x: Int, y: Int, isVisible: Bool, width: Int = 0, height: Int = 0) {
        self.x = x
        self.y = y
        self.isVisible = isVisible
        self.width = width
        self.height = height
    }

}

/// What can be told of a room's pointer.
public enum PointerUpdate: Sendable, Equatable {
    /// What it looks like from here on.
    case shape(PointerShape)
    /// Where it is.
    case place(PointerPlace)
    /// Whether the source can leave it out of the pictures and tell where it is.
    case ability(Bool)
    /// Whether the pictures published from now on have it drawn in them.
    case pictures(areDrawn: Bool)
    /// How many read the track beside viewers and players and can't draw it: recordings, outputs.
    case readers(Int)
}

/// What was told and not yet taken by the site's thread, the latest of each kind: bounded, however much is told.
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

/// Where other threads leave what they have to tell of each track's pointer.
final class PointerBoard: Sendable {
    /// Whose pointer: a track's, or that of the room's first.
    struct Key: Hashable {
        let room: String
        let track: TrackName?
    }

    private let news = Mutex<[Key: PointerNews]>([:])

    /// Notes `update`; true where the site's thread has to be sent for it.
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

/// The events of the pointer as JSON. By hand: they have no text to escape, and a position goes out 60 times a second. `track` is
/// nil where the room has never had more than one.
enum PointerEvent {
    /// `_pointer_shape`: straight alpha as base64 of RGBA bytes, as a canvas takes them.
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

    /// `_pointer_mode`; `rtp` is the RTP time stamp of the first picture that it holds for.
    static func mode(isDrawn: Bool, rtp: UInt32? = nil, track: TrackName? = nil) -> String {
        event("_pointer_mode", "\"drawn\":\(isDrawn)\(rtp.map { ",\"rtp\":\($0)" } ?? "")", track)
    }

    private static func event(_ name: String, _ data: String, _ track: TrackName?) -> String {
        // A track's name has no character that JSON escapes.
        "{\"data\":{\(data)\(track.map { ",\"track\":\"\($0)\"" } ?? "")},\"eventName\":\"\(name)\"}"
    }
}
