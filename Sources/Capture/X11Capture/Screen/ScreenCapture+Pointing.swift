import CXCB
import CaptureEngine
import Clocks
import ColorConversion
import Glibc
public import MediaTypes

/// The overlay that shows the sharer where viewers point, and which no picture has.
///
/// Requests of one connection are carried out in order. So the overlay is seen at a place only after the pixels that
/// the place had before have been read, and pictures have those instead. Everything here runs in `readEvents`, between
/// two pictures.
extension ScreenCapture {
    public func showPoint(_ point: ViewerPoint?, in pictures: PictureSize, content: PixelRectangle) {
        // Composed pictures can't leave it out: what it covers and uncovers would count as drawn by the windows below.
        if hidden != nil { return }
        guard let point else { return overlay.removeAll() }
        let size = size
        overlay.take(point, at: .now()) { place in
            func pixel(_ value: UInt16, of whole: Int, _ start: Int, _ count: Int, _ target: Int) -> Int {
                let inPicture = Int(value) * whole / Int(ViewerPoint.Place.limit)
                return min(max(0, (inPicture - start) * target / max(1, count)), max(0, target - 1))
            }
            return PointingMarks.Place(
                x: pixel(place.x, of: pictures.width, content.x, content.width, size.width),
                y: pixel(place.y, of: pictures.height, content.y, content.height, size.height))
        }
    }

    /// Brings the overlay up to date.
    func updateOverlay(_ now: MonotonicTime) throws(X11CaptureError) {
        let place = tracked.place
        if try isBehindLock() { overlay.removeAll() }
        if place == nil { overlay.removeAll() }
        if overlay.settledDue <= now, overlay.redrawDue > now { try releaseTiles(place, now) }
        if overlay.rest.due <= now { try lookBeside(place, now) }
        if overlay.redrawDue <= now {
            // Pictures of a window's own pixmap don't have it.
            if let drawing = try overlay.drawing(now, in: size) {
                if let place, place.drawable == connection.root {
                    try drawInPictures(drawing, place, now)
                } else {
                    overlay.show(drawing, at: try windowOrigin(place), on: try connection.rootSize(), now)
                    xcb_flush(connection.handle)
                }
            }
            overlay.rest.finish()
        }
        overlay.unmapIfUnused()
    }

    /// Whether the screen is locked or blanked. The overlay, which raises itself, would be above a locker, even if the
    /// sharer wants pictures of the locked screen. Watched from the first dot on.
    private func isBehindLock() throws(X11CaptureError) -> Bool {
        if lock == nil { lock = try ScreenLock(connection) }
        try lock?.update()
        return lock?.isLocked == true
    }

    /// Looks whether the screen has changed beside the overlay since the pixels beneath it were read. If so, takes it
    /// off the screen until they have been read again.
    private func lookBeside(_ place: CapturePlace?, _ now: MonotonicTime) throws(X11CaptureError) {
        guard let place, place.drawable == connection.root else { return overlay.rest.postpone(now) }
        let captured = place.available.moved(x: place.area.x, y: place.area.y)
        let areas = overlay.tiles.covered(readBefore: now - OverlayRest.age)
            .filter { $0.value.intersection(captured) == $0.value }
        guard !areas.isEmpty, let pixels = try read(areas, place) else { return overlay.rest.postpone(now) }
        guard overlay.tiles.haveChanged(seeing: pixels) else { return overlay.rest.foundNothing(now) }
        overlay.rest.begin(now)
        try drawInPictures(.nothing, place, now)
    }

    /// Draws it where pictures are read, which must not show it.
    private func drawInPictures(
        _ drawing: PointingDrawing, _ place: CapturePlace, _ now: MonotonicTime
    ) throws(X11CaptureError) {
        let origin = (x: place.area.x, y: place.area.y)
        let captured = place.available.moved(x: origin.x, y: origin.y)
        let tiles = CoveredTiles.tiles(
            under: drawing.rectangles.map { $0.moved(x: origin.x, y: origin.y).intersection(captured) })
        let settled = overlay.tiles.settled(in: captured, at: now)
        let missing = overlay.tiles.missing(of: tiles).map { ($0, $0.area.intersection(captured)) }
        let areas = settled.merging(missing) { _, missing in missing }
        var asked: xcb_xfixes_fetch_region_cookie_t?
        // One round trip: the pixels are read before the server draws.
        let pixels = try read(areas, place) {
            // Nobody else paints between the two requests for the damage, so the second has only what our drawing
            // covers and uncovers.
            if tracker != nil { xcb_grab_server(connection.handle) }
            asked = tracker?.sendRequest()
            overlay.show(drawing, at: origin, on: place.extent.size, now)
            tracker?.discard()
            if tracker != nil { xcb_ungrab_server(connection.handle) }
            // Not sooner: no program can draw until the server has the end of the grab.
            xcb_flush(connection.handle)
        }
        var drawn: [PixelRectangle] = []
        if let asked {
            try connection.receiveReply(asked, movedBy: (-place.origin.x, -place.origin.y), into: &drawn)
        }
        guard let pixels else {
            // What it covers isn't known.
            overlay.show(.nothing, at: origin, on: place.extent.size, now)
            xcb_flush(connection.handle)
            overlay.tiles.postpone(settled.keys, at: now)
            return overlay.postponeDrawing(now)
        }
        release(settled, seeing: pixels, place, now)
        // Damage of the tiles that were read a moment ago doesn't count from here on.
        overlay.removeOwn(origin, from: &drawn)
        for area in drawn { overlay.addChange(area) }
        for tile in overlay.tiles.missing(of: tiles) { overlay.tiles.keep(tile, pixels[tile], at: now) }
        overlay.tiles.cover(tiles, colors: drawing.colors, at: now)
    }

    /// Where the captured window's area is on the root window.
    private func windowOrigin(_ place: CapturePlace?) throws(X11CaptureError) -> (x: Int, y: Int) {
        guard let place, tracked.window != connection.root else { return (0, 0) }
        let cookie = xcb_translate_coordinates(
            connection.handle, tracked.window, connection.root, Int16(clamping: place.origin.x),
            Int16(clamping: place.origin.y))
        guard let translated = xcb_translate_coordinates_reply(connection.handle, cookie, nil) else {
            try connection.check()
            return (0, 0)
        }
        defer { free(translated) }
        return (Int(translated.pointee.dst_x), Int(translated.pointee.dst_y))
    }

    /// Reads the tiles that the overlay left a while ago, and releases those in which it isn't seen any more.
    private func releaseTiles(_ place: CapturePlace?, _ now: MonotonicTime) throws(X11CaptureError) {
        guard let place else { return overlay.tiles.postpone(overlay.tiles.settled(at: now).keys, at: now) }
        let captured = place.available.moved(x: place.area.x, y: place.area.y)
        let settled = overlay.tiles.settled(in: captured, at: now)
        guard let pixels = try read(settled, place) else { return overlay.tiles.postpone(settled.keys, at: now) }
        release(settled, seeing: pixels, place, now)
    }

    private func release(
        _ settled: [CoveredTiles.Tile: PixelRectangle], seeing pixels: [CoveredTiles.Tile: CoveredTiles.Pixels],
        _ place: CapturePlace, _ now: MonotonicTime
    ) {
        for (tile, area) in settled where overlay.tiles.release(tile, seeing: pixels[tile], at: now) {
            overlay.rest.foundChange()
            overlay.addChange(area.moved(x: -place.area.x, y: -place.area.y))
        }
    }

    /// Reads these areas of the root window, and has `followUp` send requests that are carried out after that; returns
    /// nil if the server refused.
    private func read(
        _ areas: [CoveredTiles.Tile: PixelRectangle], _ place: CapturePlace, followUp: () -> Void = {}
    ) throws(X11CaptureError) -> [CoveredTiles.Tile: CoveredTiles.Pixels]? {
        if areas.isEmpty {
            followUp()
            return [:]
        }
        let origin = (x: place.area.x, y: place.area.y)
        let format = tracked.layout.format
        // By rows: of many areas, neighbours in the list are read together.
        let sorted = areas.values.sorted { ($0.y, $0.x) < ($1.y, $1.x) }
        let parts = DamagedArea(sorted.map { $0.moved(x: -origin.x, y: -origin.y) }, in: size)
        var pixels = areas.mapValues { area in
            CoveredTiles.Pixels(
                area: area, bytes: [UInt8](repeating: 0, count: area.width * area.height * format.bytesPerPixel))
        }
        let isComplete = try completes { () throws(X11CaptureError) in
            try grabber.grab(parts.rectangles, of: place, tracked.layout, followUp: followUp) { grabbed in
                for tile in CoveredTiles.tiles(under: [grabbed.rectangle.moved(x: origin.x, y: origin.y)]) {
                    pixels[tile]?.add(grabbed, at: origin, format)
                }
            }
        }
        return isComplete ? pixels : nil
    }
}
