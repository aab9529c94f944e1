import CXCB
import Glibc
public import MediaTypes
import Threading

/// What can be captured on a display, for a person who has to name it.
public struct DisplayListing: Sendable, Equatable {
    /// The display's name, such as ":0".
    public var display: String
    /// The size of its screen in pixels.
    public var screen: PictureSize
    /// The number of bits in a pixel that carry colour.
    public var depth: Int
    /// The monitors, in the server's order; empty if the server has no RandR.
    public var monitors: [Monitor]
    /// The windows that a person would call windows, the lowest in the stacking order first.
    public var windows: [Window]

    /// One monitor (RandR).
    public struct Monitor: Sendable, Equatable {
        /// Its name, such as "DP-1": printable, and at most 200 characters.
        public var name: String
        /// The part of the screen that it shows, in pixels.
        public var area: PixelRectangle
        /// Whether it is the user's primary monitor.
        public var isPrimary: Bool
    }

    /// One window of a program.
    public struct Window: Sendable, Equatable {
        /// Its X identifier.
        public var identifier: UInt32
        /// Its title (_NET_WM_NAME, or else WM_NAME): printable, and at most 200 characters.
        public var title: String
        /// Its program's class (WM_CLASS): printable, and at most 200 characters.
        public var className: String
        /// Its position on the screen, in pixels, without its frame; parts may lie outside.
        public var area: PixelRectangle
        /// Whether it is mapped; others may cover it.
        public var isViewable: Bool
    }
}

extension ScreenCapture {
    /// Lists what can be captured on `display`, or on the display that DISPLAY names.
    ///
    /// - Throws: ``X11CaptureError`` if the display can't be opened or its connection ends, or if the server refuses a
    ///   request.
    public static func listing(display: String?) throws(X11CaptureError) -> DisplayListing {
        let connection = try X11Connection(display: display)
        let windows = try WindowSearch(connection).programWindows()
        return DisplayListing(
            display: connection.display, screen: try connection.rootSize(), depth: connection.rootDepth,
            monitors: try MonitorSearch(connection).monitors(),
            windows: windows.map {
                DisplayListing.Window(
                    identifier: $0.identifier, title: PrintableText.harmless($0.title),
                    className: PrintableText.harmless($0.className), area: $0.area,
                    isViewable: $0.isViewable)
            })
    }

    /// The displays of this machine that have a socket, such as ":0". It does not check whether a server still answers.
    public static func displays() -> [String] {
        let folder = "/tmp/.X11-unix"
        let numbers = fileNames(in: folder).compactMap { name -> UInt32? in
            var status = stat()
            guard name.hasPrefix("X"), let number = UInt32(name.dropFirst()), "X\(number)" == name,
                stat(folder + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK
            else { return nil }
            return number
        }
        return numbers.sorted().map { ":\($0)" }
    }
}

extension ScreenCapture {
    /// Whether the X server is on another machine.
    public var isRemote: Bool { !connection.isLocal }

    /// The extensions by which capturing would cost less or show more, and that the display doesn't have or doesn't let
    /// us use, by their names in the X protocol.
    public var missingExtensions: [String] {
        let wanted = [
            ("XFIXES", shim_xcb_xfixes_id()), ("RANDR", shim_xcb_randr_id()), ("XInputExtension", shim_xcb_input_id()),
        ]
        var missing = wanted.filter { connection.firstEvent(of: $0.1) == nil }.map(\.0)
        if !reportsDamage { missing.append("DAMAGE") }
        // Memory can't be shared with another machine, whatever its server has.
        if grabMethod != .shmFD, !isRemote { missing.append("MIT-SHM") }
        return missing
    }
}
