import MediaTypes
import Testing

@testable import WaylandCapture

@Suite("metadata of a buffer")
struct BufferMetadataTests {
    @Test("the header has flags and a time")
    func header() {
        var metadata = MetadataBytes()
        metadata.append(UInt32(2))
        metadata.append(UInt32(0))
        metadata.append(Int64(123_456_789_012))
        metadata.append(Int64(0))
        metadata.append(UInt64(7))
        metadata.bytes.withUnsafeBytes { bytes in
            #expect(BufferMetadata.header(bytes) == .init(flags: 2, time: 123_456_789_012))
            for count in 0..<16 { #expect(BufferMetadata.header(.init(rebasing: bytes[..<count])) == nil) }
        }
    }

    @Test("a picture was painted at its header's time; now if it has none, or one to come or over a second ago")
    func timeOfPainting() {
        let now = MonotonicTime(nanoseconds: 5_000_000_000)
        func painted(_ nanoseconds: Int64) -> MonotonicTime {
            CastStream.painted(BufferMetadata.Header(flags: 0, time: nanoseconds), now: now)
        }
        for time: Int64 in [4_000_000_000, 4_999_999_999, 5_000_000_000] {
            #expect(painted(time) == MonotonicTime(nanoseconds: time))
        }
        for time: Int64 in [3_999_999_999, 5_000_000_001, 0, -1, .min, .max] { #expect(painted(time) == now) }
        #expect(CastStream.painted(nil, now: now) == now)
        // Just after the clock's origin, the limit lies before it.
        let early = MonotonicTime(nanoseconds: 10)
        #expect(CastStream.painted(BufferMetadata.Header(flags: 0, time: 3), now: early).nanoseconds == 3)
    }

    @Test("damage ends at the first empty region or with the metadata; it may lie anywhere")
    func damage() {
        var metadata = MetadataBytes()
        metadata.append([1, 2, 3, 4, -5, -6, 7, 8])
        let told = [
            PixelRectangle(x: 1, y: 2, width: 3, height: 4), PixelRectangle(x: -5, y: -6, width: 7, height: 8),
        ]
        metadata.bytes.withUnsafeBytes { bytes in #expect(BufferMetadata.damage(bytes) == told) }
        metadata.append([0, 0, 0, 9, 1, 1, 1, 1])
        metadata.bytes.withUnsafeBytes { bytes in
            #expect(BufferMetadata.damage(bytes) == told)
            #expect(BufferMetadata.damage(.init(rebasing: bytes[..<31])) == [told[0]])
            #expect(BufferMetadata.damage(.init(rebasing: bytes[..<0])).isEmpty)
        }
    }

    @Test("an empty visible part is no visible part, and no transform is 0")
    func cropAndTransform() {
        var metadata = MetadataBytes()
        metadata.append([3, 0, 0, 0])
        metadata.bytes.withUnsafeBytes { bytes in
            #expect(BufferMetadata.crop(bytes) == nil)
            #expect(BufferMetadata.transform(bytes) == 3)
            #expect(BufferMetadata.transform(.init(rebasing: bytes[..<3])) == 0)
        }
    }

    @Test("damage gathers over pictures that were not taken, inside the visible part")
    func pending() throws {
        let visible = PixelRectangle(x: 10, y: 20, width: 100, height: 80)
        let whole = [PixelRectangle(x: 0, y: 0, width: 100, height: 80)]
        var damage = PendingDamage()
        #expect(damage.take().isEmpty)
        // Nothing is known of what was visible before.
        damage.add([PixelRectangle(x: 10, y: 20, width: 2, height: 2)], visible: visible)
        #expect(damage.take() == whole)
        damage.add([PixelRectangle(x: 10, y: 20, width: 2, height: 2)], visible: visible)
        damage.add([PixelRectangle(x: 100, y: 90, width: 500, height: 500)], visible: visible)
        let parts = damage.take()
        #expect(parts.contains(PixelRectangle(x: 0, y: 0, width: 2, height: 2)))
        #expect(parts.contains(PixelRectangle(x: 90, y: 70, width: 10, height: 10)))
        #expect(damage.take().isEmpty)
        damage.add([PixelRectangle(x: -50, y: -50, width: 10, height: 10)], visible: visible)
        #expect(damage.take().isEmpty)
        damage.add([], visible: visible)
        damage.add([PixelRectangle(x: 10, y: 20, width: 2, height: 2)], visible: visible)
        #expect(damage.take() == whole)
        damage.add([PixelRectangle(x: 10, y: 20, width: 2, height: 2)], visible: visible.moved(x: 1, y: 0))
        #expect(damage.take() == whole)
        damage.addAll()
        #expect(damage.take() == whole)
        #expect(!damage.isWhole)
        damage.add([PixelRectangle(x: 12, y: 21, width: 100, height: 80)], visible: visible.moved(x: 1, y: 0))
        #expect(!damage.isWhole)
        // As mutter says for a monitor without a GPU.
        damage.add([PixelRectangle(x: 0, y: 0, width: 640, height: 480)], visible: visible.moved(x: 1, y: 0))
        #expect(damage.isWhole)
        #expect(damage.take() == whole)
        // Half a turn leaves the visible part where it is, and changes all of its pixels.
        let halfTurn = try PictureTransform(2)
        let part = [PixelRectangle(x: 11, y: 20, width: 2, height: 2)]
        damage.add(part, visible: visible.moved(x: 1, y: 0), transform: halfTurn)
        #expect(damage.take() == whole)
        damage.add(part, visible: visible.moved(x: 1, y: 0), transform: halfTurn)
        #expect(damage.take() == [PixelRectangle(x: 0, y: 0, width: 2, height: 2)])
    }
}
