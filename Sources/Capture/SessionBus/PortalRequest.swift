/// A request to the desktop portal, whose results arrive in the signal `Response` (org.freedesktop.portal.Request).
///
/// The signal may arrive before the call's answer, which has the request's path. A portal may choose another path than
/// the one that `handle_token` asks for.
package struct PortalRequest {
    /// The portal's name on the bus.
    package static let portal = "org.freedesktop.portal.Desktop"
    /// The object that has the portal's interfaces.
    package static let object = "/org/freedesktop/portal/desktop"

    private var path: String?
    private var response: (path: String, values: [BusValue])?

    /// A request without an answer.
    package init() {}

    /// The values of the signal, once the call was answered as well; nil until then.
    package var results: [BusValue]? {
        guard let path, let response, response.path == path else { return nil }
        return response.values
    }

    /// Records the call's answer. Returns false if it has no path.
    package mutating func answered(_ message: BusMessage) -> Bool {
        path = message.values()?.first?.text
        return path != nil
    }

    /// Records a signal `Response` of the portal, unless it belongs to another request.
    package mutating func responded(_ message: BusMessage) {
        if let path, path != message.path { return }
        response = (path: message.path, values: message.values() ?? [])
    }
}

extension BusConnection {
    /// Has the signals reported that have results of requests to the desktop portal (`Response`), and that end one of
    /// its sessions (`Closed`) or the portal itself (`NameOwnerChanged`).
    package func listenToPortal() {
        // Responses are sent to their caller only, so that those of all paths are ours.
        listen(to: "type='signal',interface='org.freedesktop.portal.Request',member='Response'")
        listen(to: "type='signal',interface='org.freedesktop.portal.Session',member='Closed'")
        listen(
            to: "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
                + "member='NameOwnerChanged',arg0='\(PortalRequest.portal)'")
    }
}
