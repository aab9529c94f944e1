import CXCB
import Glibc
public import MediaTypes

extension VirtualScreen {
    /// The screen's size could not be changed.
    public struct NotResized: Error {}

    /// Changes the screen's size (RandR), as a user would in the desktop's settings; at most to the size that it began
    /// with.
    public func resize(to size: PictureSize) throws {
        guard let connection = xcb_connect(name, nil) else { throw NotResized() }
        defer { xcb_disconnect(connection) }
        guard let setup = xcb_get_setup(connection), let screen = xcb_setup_roots_iterator(setup).data else {
            throw NotResized()
        }
        let root = screen.pointee.root
        let resources = xcb_randr_get_screen_resources_reply(
            connection, xcb_randr_get_screen_resources(connection, root), nil)
        guard let resources else { throw NotResized() }
        defer { free(resources) }
        // A screen can't be smaller than what its outputs show, so turn them off.
        for index in 0..<Int(resources.pointee.num_crtcs) {
            guard let crtc = xcb_randr_get_screen_resources_crtcs(resources)?[index] else { continue }
            let cookie = xcb_randr_set_crtc_config(
                connection, crtc, 0, resources.pointee.config_timestamp, 0, 0, 0,
                UInt16(XCB_RANDR_ROTATION_ROTATE_0.rawValue), 0, nil)
            free(xcb_randr_set_crtc_config_reply(connection, cookie, nil))
        }
        xcb_randr_set_screen_size(connection, root, UInt16(size.width), UInt16(size.height), 300, 200)
        // The answer to this request comes when the server has done all of that.
        free(xcb_get_input_focus_reply(connection, xcb_get_input_focus(connection), nil))
    }
}
