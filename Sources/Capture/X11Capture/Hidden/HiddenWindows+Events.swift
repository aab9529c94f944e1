import CXCB
import MediaTypes

extension HiddenWindows {
    /// Handles an event.
    func take(_ event: UnsafePointer<xcb_generic_event_t>) {
        let isReshaped = composition.take(event) { window in
            if let frame = frames[window], frame.isMapped { addChange(frame.area) }
        }
        if isReshaped { return }
        switch Int32(event.pointee.response_type & 0x7F) {
        case XCB_CREATE_NOTIFY:
            create(event.cast(to: xcb_create_notify_event_t.self))
        case XCB_MAP_NOTIFY:
            let mapped = event.cast(to: xcb_map_notify_event_t.self)
            if mapped.event != connection.root { return look(at: programs.frame(of: mapped.event)) }
            map(mapped.window, event.pointee.full_sequence)
        case XCB_UNMAP_NOTIFY:
            let unmapped = event.cast(to: xcb_unmap_notify_event_t.self)
            if unmapped.event == connection.root { unmap(unmapped.window, event.pointee.full_sequence) }
        case XCB_DESTROY_NOTIFY:
            let destroyed = event.cast(to: xcb_destroy_notify_event_t.self)
            if destroyed.event == connection.root { leave(destroyed.window, event.pointee.full_sequence) }
            programs.end(destroyed.window)
            needsLook = true
        case XCB_REPARENT_NOTIFY:
            reparent(event.cast(to: xcb_reparent_notify_event_t.self), event.pointee.full_sequence)
        case XCB_CONFIGURE_NOTIFY:
            let configured = event.cast(to: xcb_configure_notify_event_t.self)
            if configured.event == connection.root { configure(configured, event.pointee.full_sequence) }
        case XCB_CIRCULATE_NOTIFY:
            let circulated = event.cast(to: xcb_circulate_notify_event_t.self)
            guard circulated.event == connection.root else { return }
            stack.circulate(circulated.window, isTop: circulated.place == UInt8(XCB_PLACE_ON_TOP.rawValue))
            uncover(circulated.window, event.pointee.full_sequence)
        case XCB_PROPERTY_NOTIFY:
            let changed = event.cast(to: xcb_property_notify_event_t.self)
            if changed.window == connection.root {
                if composition.takeRootProperty(changed.atom) { addChange(Self.everything) }
            } else if telling.contains(changed.atom) {
                look(at: programs.frame(of: changed.window))
            }
        default: break
        }
    }

    private func create(_ event: xcb_create_notify_event_t) {
        if event.parent != connection.root { return look(at: programs.frame(of: event.parent)) }
        enter(
            event.window,
            Frame(
                area: Self.area(event.x, event.y, event.width, event.height, event.border_width),
                border: Int(event.border_width), isMapped: false, isSizeKnown: true, needsLook: true))
        programs.add(event.window)
    }

    private func reparent(_ event: xcb_reparent_notify_event_t, _ sequence: UInt32) {
        look(at: programs.frame(of: event.event))
        guard event.event == connection.root else { return }
        leave(event.window, sequence)
        if event.parent == connection.root {
            // If it is mapped, an event follows. Its size is queried then.
            let area = PixelRectangle(x: Int(event.x), y: Int(event.y), width: 0, height: 0)
            enter(event.window, Frame(area: area, isMapped: false))
            if programs.frame(of: event.window) == nil { programs.add(event.window) }
            programs.move(event.window, into: event.window)
            look(at: event.window)
        } else {
            let frame = programs.frame(of: event.parent)
            programs.move(event.window, into: frame)
            look(at: frame)
        }
    }

    /// Notes that a child of the root window is new there, on top of the others.
    private func enter(_ window: xcb_window_t, _ frame: Frame) {
        frames[window] = frame
        stack.add(window)
        composition.follow(window)
        needsLook = true
    }

    /// Notes that a window is no longer a child of the root window.
    private func leave(_ window: xcb_window_t, _ sequence: UInt32) {
        uncover(window, sequence)
        frames[window] = nil
        stack.remove(window)
        previewers.forget(window)
        composition.forget(window)
    }

    private func map(_ window: xcb_window_t, _ sequence: UInt32) {
        if frames[window] == nil { enter(window, Self.unknown) }
        guard let frame = frames[window] else { return }
        frames[window]?.isMapped = true
        composition.window(window)?.map(sequence, area: frame.ownArea, secret: secret(in: frame))
        look(at: window)
        change(window)
    }

    private func unmap(_ window: xcb_window_t, _ sequence: UInt32) {
        uncover(window, sequence)
        frames[window]?.isMapped = false
        composition.window(window)?.unmap()
    }

    private func configure(_ event: xcb_configure_notify_event_t, _ sequence: UInt32) {
        let window = event.window
        let area = Self.area(event.x, event.y, event.width, event.height, event.border_width)
        let isRestacked = stack.place(window, above: event.above_sibling)
        guard let old = frames[window] else { return }
        if old.isSizeKnown, !isRestacked, old.area == area, old.border == Int(event.border_width) { return }
        uncover(window, sequence)
        frames[window]?.area = area
        frames[window]?.border = Int(event.border_width)
        frames[window]?.isSizeKnown = true
        if let new = frames[window], old.area.size != area.size || old.border != new.border {
            composition.window(window)?.resize(from: old.ownArea, to: new.ownArea, secret: secret(in: new))
        }
        change(window)
    }

    /// Notes that a window may no longer be where it was, or no longer above the others.
    private func uncover(_ window: xcb_window_t, _ sequence: UInt32) {
        change(window)
        if let frame = frames[window], frame.isMapped { composition.uncover(frame.area, window, sequence) }
    }

    /// Notes that the picture changes where the window is.
    func change(_ window: xcb_window_t) {
        needsLook = true
        guard let frame = frames[window], frame.isMapped, !frame.isInputOnly else { return }
        addChange(frame.area)
    }

    private static func area(_ x: Int16, _ y: Int16, _ width: UInt16, _ height: UInt16, _ border: UInt16)
        -> PixelRectangle
    {
        PixelRectangle(
            x: Int(x), y: Int(y), width: Int(width) + 2 * Int(border), height: Int(height) + 2 * Int(border))
    }
}
