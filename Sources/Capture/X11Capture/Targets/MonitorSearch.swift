import CXCB
import Glibc
import MediaTypes

/// Asks RandR for the monitors: those that RandR 1.5 lists or, in older versions, the outputs that a CRTC drives.
struct MonitorSearch {
    private let connection: X11Connection
    // The most monitors that are listed: no real setup has more, and each one costs at least one more request.
    private static let maxMonitors = 64

    init(_ connection: X11Connection) {
        self.connection = connection
    }

    /// The monitors, in the server's order; none if the server has no RandR.
    func monitors() throws(X11CaptureError) -> [DisplayListing.Monitor] {
        let version = try connection.randrVersion()
        if version >= (1, 5) { return try named(listOfMonitors()) }
        if version >= (1, 2) { return try outputs() }
        return []
    }

    /// Whether the server has an output of this name, even if it is off.
    func hasOutput(_ name: String) throws(X11CaptureError) -> Bool {
        if try connection.randrVersion() < (1, 2) { return false }
        return try outputs(evenOff: true).contains { $0.name == name }
    }

    private struct UnresolvedMonitor {
        var atom: xcb_atom_t
        var area: PixelRectangle
        var isPrimary: Bool
    }

    private func listOfMonitors() throws(X11CaptureError) -> [UnresolvedMonitor] {
        let cookie = xcb_randr_get_monitors(connection.handle, connection.root, 1)
        let reply = try connection.reply(to: "RRGetMonitors") {
            xcb_randr_get_monitors_reply(connection.handle, cookie, &$0)
        }
        defer { free(reply) }
        var found: [UnresolvedMonitor] = []
        var monitors = xcb_randr_get_monitors_monitors_iterator(reply)
        while monitors.rem > 0, found.count < Self.maxMonitors, let monitor = monitors.data?.pointee {
            found.append(
                UnresolvedMonitor(
                    atom: monitor.name,
                    area: PixelRectangle(
                        x: Int(monitor.x), y: Int(monitor.y), width: Int(monitor.width), height: Int(monitor.height)),
                    isPrimary: monitor.primary != 0))
            xcb_randr_monitor_info_next(&monitors)
        }
        return found
    }

    private func named(_ monitors: [UnresolvedMonitor]) throws(X11CaptureError) -> [DisplayListing.Monitor] {
        let cookies = monitors.map { xcb_get_atom_name(connection.handle, $0.atom) }
        var result: [DisplayListing.Monitor] = []
        for (monitor, cookie) in zip(monitors, cookies) {
            // The monitor may have been removed meanwhile, and its name with it.
            guard let reply = xcb_get_atom_name_reply(connection.handle, cookie, nil) else { continue }
            defer { free(reply) }
            let bytes = UnsafeRawBufferPointer(
                start: xcb_get_atom_name_name(reply), count: max(0, Int(xcb_get_atom_name_name_length(reply))))
            result.append(
                DisplayListing.Monitor(
                    name: PrintableText.harmless(String(decoding: bytes, as: UTF8.self)), area: monitor.area,
                    isPrimary: monitor.isPrimary))
        }
        try connection.check()
        return result
    }

    /// The outputs that a CRTC drives. If `evenOff` is true, also those that are off, with an empty area.
    private func outputs(evenOff: Bool = false) throws(X11CaptureError) -> [DisplayListing.Monitor] {
        let primaryCookie = xcb_randr_get_output_primary(connection.handle, connection.root)
        let cookie = xcb_randr_get_screen_resources_current(connection.handle, connection.root)
        let primary = xcb_randr_get_output_primary_reply(connection.handle, primaryCookie, nil)
        defer { free(primary) }
        // RandR 1.2 doesn't know either request. It has no primary output, and lists its outputs only after probing
        // them.
        var resources = xcb_randr_get_screen_resources_current_reply(connection.handle, cookie, nil)
        if resources == nil {
            let probing = xcb_randr_get_screen_resources(connection.handle, connection.root)
            resources = xcb_randr_get_screen_resources_reply(connection.handle, probing, nil).map {
                UnsafeMutableRawPointer($0).assumingMemoryBound(
                    to: xcb_randr_get_screen_resources_current_reply_t.self)
            }
        }
        try connection.check()
        guard let resources else { return [] }
        defer { free(resources) }
        let outputs = UnsafeBufferPointer(
            start: xcb_randr_get_screen_resources_current_outputs(resources),
            count: max(0, Int(xcb_randr_get_screen_resources_current_outputs_length(resources))))
        var result: [DisplayListing.Monitor] = []
        for output in outputs.prefix(Self.maxMonitors) {
            let infoCookie = xcb_randr_get_output_info(
                connection.handle, output, resources.pointee.config_timestamp)
            guard let info = xcb_randr_get_output_info_reply(connection.handle, infoCookie, nil) else { continue }
            defer { free(info) }
            let area = area(of: info.pointee.crtc, resources.pointee.config_timestamp)
            if area.isEmpty, !evenOff { continue }
            let name = UnsafeBufferPointer(
                start: xcb_randr_get_output_info_name(info),
                count: max(0, Int(xcb_randr_get_output_info_name_length(info))))
            result.append(
                DisplayListing.Monitor(
                    name: PrintableText.harmless(String(decoding: name, as: UTF8.self)), area: area,
                    isPrimary: primary?.pointee.output == output))
        }
        try connection.check()
        return result
    }
    /// The area that a CRTC shows; empty if `crtc` is 0 (none) or the CRTC is off.
    private func area(of crtc: xcb_randr_crtc_t, _ time: xcb_timestamp_t) -> PixelRectangle {
        if crtc == 0 { return .nothing }
        let cookie = xcb_randr_get_crtc_info(connection.handle, crtc, time)
        guard let info = xcb_randr_get_crtc_info_reply(connection.handle, cookie, nil) else { return .nothing }
        defer { free(info) }
        if info.pointee.mode == 0 { return .nothing }
        return PixelRectangle(
            x: Int(info.pointee.x), y: Int(info.pointee.y), width: Int(info.pointee.width),
            height: Int(info.pointee.height))
    }
}
