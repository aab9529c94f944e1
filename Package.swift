// swift-tools-version: 6.2
// ScreenRelay. Folders follow the path of a frame; a target depends only on groups above its own.
import PackageDescription

/// With the compiler that the project is checked with, warnings are errors. A later compiler's new warnings don't stop
/// anyone's build, nor do a later library's deprecations.
#if compiler(<6.4)
    let warnings: [SwiftSetting] = [
        .treatAllWarnings(as: .error), .treatWarning("DeprecatedDeclaration", as: .warning),
    ]
#else
    let warnings: [SwiftSetting] = []
#endif

/// Every target of ours: the Swift 6 language mode.
let settings: [SwiftSetting] =
    warnings + [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ]

/// Pure cores: no Foundation, Glibc, C, clock or I/O, and every unsafe construct is spelled out.
let pureSettings = settings + [.strictMemorySafety()]

/// The folder of a target. The group TestTools isn't the product, so it stands beside Sources.
func folder(_ group: String, _ name: String) -> String {
    group == "TestTools" ? "TestTools/\(name)" : "Sources/\(group)/\(name)"
}

func pure(_ group: String, _ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: folder(group, name), swiftSettings: pureSettings)
}

func shell(
    _ group: String, _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [],
    plugins: [Target.PluginUsage]? = nil
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: folder(group, name), exclude: exclude,
        swiftSettings: settings, plugins: plugins)
}

func program(_ group: String, _ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: folder(group, name), swiftSettings: settings)
}

func system(_ name: String, pkgConfig: String? = nil, apt: [String]) -> Target {
    .systemLibrary(
        name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig, providers: [.apt(apt)])
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, path: "Tests/\(name)", exclude: exclude, swiftSettings: settings)
}

let package = Package(
    name: "ScreenRelay",
    products: [
        .library(
            name: "ScreenRelayKit",
            targets: [
                "ScreenRelayKit", "MediaTypes", "H264", "Opus", "CaptureLink", "SecureTransport", "Signalling", "STUN",
                "Threading", "TrackHub", "LinkTransport", "Ingest", "OutputLife", "OutputSettings", "Pushing",
                "RTSPServing", "Pulling", "RTMPServing", "SRTServing", "Joining",
            ]),
        // The receiving half: for applications that join a room, without a host of their own.
        .library(name: "ScreenRelayClient", targets: ["ScreenRelayClient", "MediaTypes", "H264"]),
        // For the benchmarks in Tools/, packages of their own, which see only products.
        .library(
            name: "ScreenRelayTestTools",
            targets: [
                "BrowserDriver", "Processes", "CommandLine", "CaptureLink", "LinkTransport", "SecureTransport",
                "ByteCoding", "Clocks", "H264", "MediaTypes", "PictureTimeline", "RTP", "SDP", "STUN", "Threading",
                "VideoDecoding",
            ]),
        .library(name: "CSRTP", targets: ["CSRTP"]),
        .executable(name: "screenrelay-scene", targets: ["screenrelay-scene"]),
        // For the fuzzers in Tools/fuzzing: everything that reads bytes from outside.
        .library(
            name: "ScreenRelayParsing",
            targets: [
                "MediaTypes", "ByteCoding", "H264", "CaptureLink", "Recording", "Inspection", "Exporting", "Replaying",
                "STUN", "RTP", "SDP", "SecureTransport", "Rooms", "SocketIORooms", "Signalling", "Threading", "RTMP",
                "RTSP", "WaylandCapture",
            ]),
        .executable(name: "screenrelay", targets: ["screenrelay"]),
        .executable(name: "screenrelay-capture", targets: ["screenrelay-capture"]),
        .executable(name: "screenrelay-sound", targets: ["screenrelay-sound"]),
    ],
    targets: [
        // System: module maps and shims only.
        system("CBuild", apt: []),
        system("CLinux", apt: ["libc6-dev"]),
        system("CConfinement", apt: ["libc6-dev"]),
        system(
            "CXCB", pkgConfig: "xcb",
            apt: [
                "libxcb1-dev", "libxcb-shm0-dev", "libxcb-damage0-dev", "libxcb-xfixes0-dev", "libxcb-randr0-dev",
                "libxcb-render0-dev", "libxcb-shape0-dev", "libxcb-xinput-dev", "libxcb-composite0-dev",
                "libxcb-screensaver0-dev", "libxcb-xtest0-dev", "libxcb-sync-dev",
            ]),
        system("CWayland", pkgConfig: "wayland-cursor", apt: ["libwayland-dev", "libxkbcommon-dev"]),
        system("CX264", pkgConfig: "x264", apt: ["libx264-dev"]),
        system("CYUV", apt: ["libyuv-dev"]),
        system(
            "CLibAV", pkgConfig: "libavformat", apt: ["libavformat-dev", "libavcodec-dev", "libavutil-dev"]),
        system("CSRT", apt: ["libsrt-gnutls-dev"]),
        system("CSwResample", pkgConfig: "libswresample", apt: ["libswresample-dev", "libavutil-dev"]),
        system("COpus", pkgConfig: "opus", apt: ["libopus-dev"]),
        system("CPulse", pkgConfig: "libpulse", apt: ["libpulse-dev"]),
        system("CPipeWire", pkgConfig: "libpipewire-0.3", apt: ["libpipewire-0.3-dev"]),
        system("CSystemBus", pkgConfig: "libsystemd", apt: ["libsystemd-dev"]),
        system("COpenSSL", pkgConfig: "openssl", apt: ["libssl-dev"]),
        system("CGLib", pkgConfig: "libsoup-3.0", apt: ["libsoup-3.0-dev", "glib-networking"]),
        system("CQREncode", apt: ["libqrencode-dev"]),

        // Media: what a picture is, and how it is written.
        pure("Media", "MediaTypes"),
        pure("Media", "ByteCoding", ["MediaTypes"]),
        // The only clock. As a separate target, it shows which targets read one; pure cores may not.
        shell("Media", "Clocks", ["MediaTypes"]),
        shell("Media", "LockOrder"),
        shell("Media", "Threading", ["Clocks", "CLinux", "MediaTypes"]),
        pure("Media", "H264", ["MediaTypes"]),
        pure("Media", "Opus", ["MediaTypes"]),
        // The one table that finds the builder and the reader of a codec's frames.
        pure("Media", "CodecTable", ["MediaTypes", "H264", "Opus"]),

        // Codecs: one wrapper per library.
        shell("Codecs", "VideoEncoding", ["MediaTypes"]),
        shell("Codecs", "X264Encoding", ["CX264", "H264", "MediaTypes", "VideoEncoding"]),
        // What the wrappers of FFmpeg's libraries share: their messages, and the decoders that may be used.
        shell("Codecs", "LibAVMessages", ["CLibAV"]),
        shell("Codecs", "VideoDecoding", ["CLibAV", "H264", "LibAVMessages", "MediaTypes"]),
        shell("Codecs", "AudioCoding", ["COpus", "MediaTypes"]),
        // What screenrelay-sound doesn't need: other codecs of sound, other rates, and the way to and from Opus.
        shell(
            "Codecs", "AudioConversion",
            ["CLibAV", "CSwResample", "AudioCoding", "LibAVMessages", "MediaTypes"]),
        shell("Codecs", "ColorConversion", ["CYUV", "MediaTypes"]),
        shell(
            "Codecs", "MediaFiles",
            [
                "CLibAV", "CSRT", "Clocks", "ByteCoding", "H264", "LibAVMessages", "Opus", "Threading", "VideoDecoding",
                "MediaTypes",
            ]),
        shell("Codecs", "PictureFiles", ["CLibAV", "LibAVMessages", "MediaTypes", "ColorConversion"]),
        // What an application writes as pictures, encoded while its track is watched.
        shell(
            "Codecs", "TrackEncoding", ["Clocks", "MediaTypes", "Threading", "VideoDecoding", "X264Encoding"]),
        // Apart from PictureFiles, so that applications of ScreenRelayKit don't need libqrencode.
        shell("Codecs", "QRCodes", ["CQREncode"]),

        // Link: from capture to host.
        pure("Link", "CaptureLink", ["MediaTypes", "ByteCoding", "CodecTable"]),
        pure("Link", "Recording", ["MediaTypes", "ByteCoding", "CodecTable", "H264", "CaptureLink"]),
        pure("Link", "Inspection", ["MediaTypes", "ByteCoding", "H264", "Opus", "CaptureLink", "Recording"]),
        pure("Link", "Exporting", ["MediaTypes", "CodecTable", "Opus", "CaptureLink", "Recording"]),
        shell(
            "Link", "LinkTransport", ["COpenSSL", "Clocks", "Threading", "CLinux", "ByteCoding", "MediaTypes"]),
        shell(
            "Link", "RecordingFiles",
            ["Clocks", "Threading", "MediaTypes", "ByteCoding", "CodecTable", "CaptureLink", "Recording"]),

        pure("Link", "Replaying", ["MediaTypes", "ByteCoding", "CodecTable", "CaptureLink", "Recording"]),

        // Capture: from the screen to the link.
        pure("Capture", "RateControl", ["MediaTypes"]),
        // What every capture needs of its host: the link, and the signals that end it.
        shell(
            "Capture", "HostConnection",
            ["Clocks", "Threading", "CLinux", "CaptureLink", "LinkTransport", "ByteCoding", "MediaTypes"]),
        // A connection to an X server, and a limit for a server that hangs.
        shell("Capture", "DisplayConnection", ["CXCB", "Clocks", "MediaTypes", "Threading"]),
        // The user's bus, on which a desktop's programs call each other.
        shell("Capture", "SessionBus", ["CSystemBus", "MediaTypes"]),
        // Whether the desktop says that it is locked.
        shell("Capture", "LoginSession", ["CSystemBus", "MediaTypes"]),
        shell(
            "Capture", "CaptureEngine",
            [
                "LoginSession", "HostConnection", "Clocks", "Threading", "CLinux", "RateControl", "ColorConversion",
                "VideoEncoding",
                "X264Encoding",
                "CaptureLink", "LinkTransport",
                "ByteCoding", "MediaTypes", "Recording", "RecordingFiles",
            ]),
        shell(
            "Capture", "X11Capture",
            [
                "CaptureEngine", "Clocks", "CXCB", "CLinux", "ColorConversion", "CaptureLink", "DisplayConnection",
                "LinkTransport", "MediaTypes", "Threading",
            ]),
        // What a Wayland desktop shares: its portal grants a PipeWire node, whose buffers are the pictures.
        shell(
            "Capture", "WaylandCapture",
            [
                "CaptureEngine", "Clocks", "CPipeWire", "SessionBus", "ColorConversion", "CaptureLink",
                "LinkTransport", "MediaTypes", "Threading",
            ]),

        // The sound beside the pictures, which a process of its own captures without any of their libraries.
        shell(
            "Capture", "AudioCapture",
            [
                "HostConnection", "AudioCoding", "CPulse", "CSwResample", "Clocks", "Threading", "CaptureLink",
                "LinkTransport", "MediaTypes",
            ]),

        // Host: from the link to the readers.
        pure("Host", "TrackHub", ["MediaTypes", "CaptureLink", "LockOrder"]),
        shell(
            "Host", "Ingest",
            [
                "Clocks", "Threading", "CaptureLink", "LinkTransport", "Recording", "RecordingFiles", "TrackHub",
                "VideoDecoding", "X264Encoding", "ColorConversion", "CodecTable", "MediaTypes", "LockOrder",
            ]),

        // RTC: from a reader to a peer.
        pure("RTC", "STUN", ["ByteCoding"]),
        pure("RTC", "RTP", ["MediaTypes", "ByteCoding"]),
        pure("RTC", "SDP", ["MediaTypes", "H264"]),
        pure("RTC", "CongestionControl", ["MediaTypes", "RTP"]),
        shell("RTC", "SecureTransport", ["COpenSSL", "MediaTypes"]),
        // What signalling knows of sessions, so that it doesn't depend on WebRTC.
        pure("RTC", "MediaSessions", ["MediaTypes"]),
        shell(
            "RTC", "WebRTC",
            [
                "Clocks", "CLinux", "Threading", "STUN", "RTP", "SDP", "CongestionControl", "SecureTransport",
                "MediaSessions", "TrackHub", "Opus", "MediaTypes",
            ]),

        // Rooms: who watches.
        pure("Rooms", "Rooms", ["MediaTypes"]),
        pure("Rooms", "SocketIORooms", ["ByteCoding", "Rooms"]),
        // The page. The build joins its files and compiles them into the host.
        pure("Rooms", "PageBundling"),
        program("Rooms", "embed-page", ["PageBundling"]),
        .plugin(
            name: "EmbedPage", capability: .buildTool(), dependencies: ["embed-page"], path: "Plugins/EmbedPage"),
        shell("Rooms", "Viewer", ["CGLib", "MediaTypes"], exclude: ["page"], plugins: ["EmbedPage"]),
        shell(
            "Rooms", "Signalling",
            [
                "ByteCoding", "CGLib", "Clocks", "Threading", "LinkTransport", "SDP", "MediaSessions", "MediaTypes",
                "Rooms", "SocketIORooms", "Viewer", "LockOrder",
            ]),

        // Kit: all of it, as a library.
        shell("Kit", "Processes", ["CLinux", "Threading"]),
        shell(
            "Kit", "ScreenRelayKit",
            [
                "CodecTable", "ByteCoding", "Clocks", "CLinux", "MediaTypes", "Threading", "CaptureLink",
                "LinkTransport", "RecordingFiles", "LockOrder",
                "TrackHub", "VideoDecoding", "TrackEncoding", "AudioCoding", "Opus",
                "Ingest",
                "STUN", "SecureTransport", "MediaSessions", "WebRTC", "Rooms", "Signalling", "PictureFiles",
                "Processes",
            ]),

        // Inputs: where tracks come from besides captures and publishers.
        shell(
            "Inputs", "Pulling",
            [
                "ScreenRelayKit", "MediaFiles", "VideoDecoding", "ColorConversion", "AudioCoding", "AudioConversion",
                "Opus", "Threading", "Clocks", "MediaTypes",
            ]),

        pure("Inputs", "RTMP", ["ByteCoding", "H264", "MediaTypes"]),
        shell(
            "Inputs", "RTMPServing",
            [
                "RTMP", "Pulling", "ScreenRelayKit", "SecureTransport", "Signalling", "LinkTransport", "Threading",
                "Clocks", "MediaTypes",
            ]),
        shell(
            "Inputs", "SRTServing",
            [
                "CSRT", "Pulling", "ScreenRelayKit", "Signalling", "MediaFiles", "ByteCoding", "Threading", "Clocks",
                "MediaTypes",
            ]),

        // Outputs: where a track goes besides its viewers.
        pure("Outputs", "OutputLife", ["MediaTypes"]),
        pure("Outputs", "OutputSettings", ["MediaTypes"]),
        // How a server is asked to take a WebRTC session; what is sent in it is Pushing's business.
        shell(
            "Outputs", "WebRTCPushing",
            [
                "ByteCoding", "CGLib", "Clocks", "LinkTransport", "Threading", "MediaTypes", "OutputLife",
                "OutputSettings", "SDP", "SecureTransport", "Signalling", "STUN",
            ]),
        shell(
            "Outputs", "Pushing",
            [
                "OutputLife", "OutputSettings", "WebRTCPushing", "ScreenRelayKit", "MediaSessions", "MediaFiles",
                "X264Encoding", "VideoEncoding",
                "VideoDecoding", "ColorConversion", "AudioCoding", "AudioConversion", "Opus", "TrackHub", "CodecTable",
                "SecureTransport", "ByteCoding", "LinkTransport", "Threading", "LockOrder", "Clocks", "CLinux",
                "MediaTypes",
            ]),

        pure("Outputs", "RTSP", ["ByteCoding", "SDP", "RTP", "MediaTypes"]),
        shell(
            "Outputs", "RTSPServing",
            [
                "RTSP", "Pulling", "ScreenRelayKit", "Signalling", "LinkTransport", "RTP", "WebRTC", "STUN",
                "SecureTransport", "AudioCoding", "AudioConversion", "H264", "Opus", "TrackHub", "Threading", "Clocks",
                "CGLib", "CLinux", "MediaTypes",
            ]),

        shell(
            "Outputs", "Joining",
            [
                "ScreenRelayKit", "Signalling", "MediaSessions", "Rooms", "SocketIORooms", "ByteCoding", "Threading",
                "Clocks", "MediaTypes", "TrackHub",
            ]),

        // Clients: what joins a room over the network, without Kit. How it is connected, and an application's client.
        shell(
            "Clients", "RoomConnections",
            [
                "ByteCoding", "CodecTable", "MediaSessions", "MediaTypes", "OutputLife", "SDP", "STUN", "Signalling",
                "Threading", "TrackHub", "WebRTC", "WebRTCPushing",
            ]),
        shell(
            "Clients", "ScreenRelayClient",
            [
                "AudioCoding", "Clocks", "ColorConversion", "MediaTypes", "OutputSettings", "RoomConnections", "Rooms",
                "Signalling", "Threading", "TrackEncoding", "TrackHub", "VideoDecoding", "WebRTCPushing",
            ]),

        // Programs.
        shell(
            "Programs", "CommandLine",
            [
                "CBuild", "CConfinement", "Clocks", "CLinux", "Threading", "LinkTransport", "LockOrder", "MediaTypes",
                "RecordingFiles",
            ]),
        shell(
            "Programs", "Diagnosis",
            [
                "ByteCoding", "CGLib", "CLinux", "Clocks", "MediaTypes", "Processes", "STUN",
                "ScreenRelayKit", "SecureTransport", "Signalling", "Threading", "WebRTC",
            ]),
        // What a viewer without a browser does. Of the host it has only the recorder of a track.
        shell(
            "Programs", "Viewing",
            [
                "AudioCoding", "CLinux", "CWayland", "CXCB", "ByteCoding", "Clocks", "ColorConversion", "CommandLine",
                "DisplayConnection", "Exporting", "Ingest", "MediaFiles", "MediaTypes", "Opus", "OutputSettings",
                "Processes", "RecordingFiles", "Replaying", "RoomConnections", "Signalling", "Threading",
                "VideoDecoding", "WebRTCPushing",
            ]),
        // How a desktop shows that its screen is shared: an icon in its tray, notifications, and a key that pauses.
        shell(
            "Programs", "DesktopIntegration",
            ["CXCB", "Clocks", "DisplayConnection", "MediaTypes", "SessionBus", "Threading"]),
        shell(
            "Programs", "Commands",
            [
                "Clocks", "ByteCoding", "DesktopIntegration", "Diagnosis", "LockOrder", "QRCodes", "Viewing",
                "CLinux", "CaptureLink", "CommandLine", "ScreenRelayKit", "Ingest", "LinkTransport", "SecureTransport",
                "Signalling", "STUN",
                "Threading", "Recording", "RecordingFiles", "Replaying", "Inspection", "Exporting", "MediaFiles",
                "MediaTypes", "TrackHub", "OutputLife", "OutputSettings", "Pushing", "RTSPServing", "Pulling",
                "RTMPServing", "SRTServing", "Joining", "Processes",
            ]),
        program("Programs", "screenrelay", ["Commands"]),
        program(
            "Programs", "screenrelay-capture",
            [
                "CLinux", "Clocks", "CommandLine", "CaptureEngine", "HostConnection", "LinkTransport", "LoginSession",
                "RecordingFiles", "Threading", "WaylandCapture", "X11Capture", "MediaTypes",
            ]),
        program(
            "Programs", "screenrelay-sound",
            ["CLinux", "CommandLine", "HostConnection", "LinkTransport", "AudioCapture", "Threading"]),

        // TestTools: a scene to share, a real browser to see it with, and what many viewers see. Three programs, as
        // scripts use them apart: benchmarks start the scene without a browser, and Tools/quickstart checks the page
        // without screenshots. PageStories has the page's states, for the screenshots and for the tests.
        pure("TestTools", "PictureTimeline", ["MediaTypes"]),
        shell("TestTools", "TestScene", ["CXCB"]),
        shell("TestTools", "BrowserDriver", ["CLinux", "Processes"]),
        program("TestTools", "screenrelay-scene", ["TestScene", "CommandLine"]),
        program("TestTools", "screenrelay-browser-check", ["BrowserDriver", "CommandLine"]),
        shell("TestTools", "PageStories", ["BrowserDriver"]),
        program("TestTools", "screenrelay-screenshots", ["PageStories", "BrowserDriver", "CommandLine"]),

        // Examples: built with the tests, so that they stay true.
        .executableTarget(
            name: "custom-track", dependencies: ["ScreenRelayKit", "H264", "MediaTypes"],
            path: "Examples/CustomTrack", swiftSettings: settings),
        .executableTarget(
            name: "reading-frames",
            dependencies: ["ScreenRelayKit", "LinkTransport", "Ingest", "MediaTypes", "TrackHub"],
            path: "Examples/ReadingFrames", swiftSettings: settings),
        .executableTarget(
            name: "counting-viewers", dependencies: ["Signalling"], path: "Examples/CountingViewers",
            swiftSettings: settings),
        .executableTarget(
            name: "watermark", dependencies: ["ScreenRelayKit", "Pushing", "MediaTypes"], path: "Examples/Watermark",
            swiftSettings: settings),
        .executableTarget(
            name: "mirror", dependencies: ["ScreenRelayClient", "MediaTypes"], path: "Examples/Mirror",
            swiftSettings: settings),

        // Tests: one folder per target that has logic; EndToEnd has the real browser and the real FFmpeg.
        .target(
            name: "TestSupport",
            dependencies: ["CLinux", "CXCB", "LinkTransport", "MediaTypes", "Processes", "RTP"],
            path: "Tests/TestSupport",
            swiftSettings: settings),
        // What SRTP is compared with. Nothing else uses it.
        .systemLibrary(name: "CSRTP", path: "Tests/CSRTP", providers: [.apt(["libsrtp2-dev"])]),
        tests("MediaTypesTests", ["MediaTypes", "ByteCoding", "TestSupport"]),
        tests("H264Tests", ["H264", "MediaTypes", "TestSupport"]),
        tests("OpusTests", ["Opus", "CaptureLink", "MediaTypes"]),
        tests(
            "CodecsTests",
            [
                "AudioCoding", "AudioConversion", "VideoEncoding", "X264Encoding", "VideoDecoding", "ColorConversion",
                "MediaFiles", "PictureFiles", "QRCodes", "LibAVMessages", "Processes", "H264",
                "MediaTypes", "TestSupport",
            ]),
        tests("CaptureLinkTests", ["CaptureLink", "H264", "MediaTypes", "TestSupport"]),
        tests(
            "InspectionTests",
            [
                "Inspection", "Exporting", "MediaFiles", "Recording", "CaptureLink", "AudioCoding", "X264Encoding",
                "H264", "ByteCoding", "Processes", "MediaTypes", "TestSupport",
            ]),
        tests(
            "RecordingTests",
            [
                "Recording", "RecordingFiles", "CaptureLink", "ByteCoding", "H264", "Threading", "MediaTypes",
                "TestSupport",
            ]),
        tests(
            "ReplayingTests",
            ["ByteCoding", "Replaying", "Recording", "CaptureLink", "H264", "MediaTypes", "TestSupport"]),
        tests("LinkTransportTests", ["LinkTransport", "MediaTypes", "CLinux", "Processes", "TestSupport"]),
        tests(
            "X11CaptureTests",
            [
                "X11Capture", "CaptureEngine", "CaptureLink", "ColorConversion", "LinkTransport", "TestScene", "CXCB",
                "MediaTypes", "Processes", "TestSupport",
            ]),
        tests(
            "WaylandCaptureTests",
            [
                "WaylandCapture", "SessionBus", "CaptureEngine", "CPipeWire", "CaptureLink", "LinkTransport",
                "MediaTypes", "TestSupport",
            ],
            exclude: [
                "faulty_cast.py", "wayland_desktop.py", "wayland_keys.py", "wayland_monitors.py", "wayland_programs.py",
            ]),
        tests("RateControlTests", ["RateControl", "MediaTypes", "TestSupport"]),
        tests(
            "CaptureEngineTests",
            [
                "Clocks", "CaptureEngine", "HostConnection", "RateControl", "Threading", "VideoEncoding", "X11Capture",
                "ColorConversion", "CaptureLink", "LinkTransport", "VideoDecoding", "H264", "TestScene", "MediaTypes",
                "CLinux", "Recording", "RecordingFiles", "TestSupport",
            ]),
        tests(
            "AudioCaptureTests",
            [
                "AudioCapture", "AudioCoding", "CaptureLink", "LinkTransport", "Threading", "Processes", "CLinux",
                "MediaTypes", "TestSupport",
            ]),
        tests("TrackHubTests", ["TrackHub", "CaptureLink", "H264", "LockOrder", "MediaTypes", "TestSupport"]),
        tests(
            "IngestTests",
            [
                "Ingest", "TrackHub", "Threading", "CaptureLink", "H264", "LinkTransport", "Recording",
                "RecordingFiles",
                "X264Encoding", "VideoDecoding", "MediaTypes", "TestSupport",
            ]),
        tests("STUNTests", ["STUN", "TestSupport"]),
        tests("RTPTests", ["RTP", "MediaTypes", "TestSupport"]),
        tests("SDPTests", ["SDP", "H264", "MediaTypes", "TestSupport"]),
        tests("CongestionControlTests", ["CongestionControl", "MediaTypes", "RTP", "TestSupport"]),
        tests("SecureTransportTests", ["SecureTransport", "CSRTP", "MediaTypes", "Processes", "TestSupport"]),
        tests(
            "WebRTCTests",
            [
                "WebRTC", "STUN", "RTP", "SDP", "CongestionControl", "SecureTransport", "MediaSessions", "TrackHub",
                "Threading", "H264", "MediaTypes", "Clocks", "CaptureLink",
                "ByteCoding", "Processes", "TestSupport",
            ]),
        tests("OutputLifeTests", ["OutputLife", "MediaTypes", "TestSupport"]),
        tests("OutputSettingsTests", ["OutputSettings", "MediaTypes"]),
        tests(
            "WebRTCPushingTests",
            [
                "WebRTCPushing", "Signalling", "OutputLife", "OutputSettings", "SDP", "SecureTransport", "STUN",
                "Threading", "MediaTypes", "TestSupport",
            ]),
        tests(
            "PushingTests",
            [
                "Pushing", "OutputLife", "OutputSettings", "ScreenRelayKit", "AudioCoding", "TrackHub",
                "Ingest", "MediaFiles", "Processes", "ByteCoding", "Threading", "H264", "MediaTypes", "TestSupport",
                "WebRTCPushing",
            ]),
        tests(
            "PullingTests",
            [
                "Pulling", "Pushing", "OutputLife", "MediaFiles", "RTMPServing", "SRTServing", "RTSPServing",
                "ScreenRelayKit", "Signalling", "LinkTransport", "TrackHub", "Threading", "VideoDecoding",
                "AudioCoding", "Processes", "H264", "CSRT", "SecureTransport", "MediaTypes", "TestSupport",
            ], exclude: ["rtsp_gstreamer.py"]),
        tests("RTMPTests", ["RTMP", "H264", "MediaTypes", "TestSupport"]),
        tests("JoiningTests", ["Joining", "Signalling", "SocketIORooms", "MediaTypes"]),
        tests("RTSPTests", ["RTSP", "RTP", "MediaTypes", "TestSupport"]),
        tests(
            "RTSPServingTests",
            [
                "RTSPServing", "RTSP", "RTP", "ScreenRelayKit", "Signalling", "Ingest", "TrackHub", "CaptureLink",
                "LinkTransport", "AudioCoding", "Opus", "Processes", "Threading", "H264", "MediaTypes", "TestSupport",
            ]),
        tests("ProcessesTests", ["Processes", "BrowserDriver", "TestScene", "MediaTypes", "TestSupport"]),
        tests("PictureTimelineTests", ["PictureTimeline", "MediaTypes", "TestSupport"]),
        tests("RoomsTests", ["Rooms", "MediaTypes", "TestSupport"]),
        tests("SocketIORoomsTests", ["SocketIORooms", "Rooms", "TestSupport"]),
        tests("PageBundlingTests", ["PageBundling"]),
        tests("ViewerTests", ["Viewer", "Processes", "TestSupport"], exclude: ["page"]),
        tests(
            "SignallingTests",
            [
                "Signalling", "Rooms", "ByteCoding", "LinkTransport", "MediaSessions", "Processes", "Threading",
                "MediaTypes",
                "TestSupport", "CGLib",
            ]),
        tests(
            "CommandLineTests",
            [
                "CConfinement", "CLinux", "CommandLine", "Processes", "LinkTransport", "RecordingFiles", "MediaTypes",
                "TestSupport", "Threading",
            ]),
        tests(
            "CommandsTests",
            [
                "CaptureLink", "Commands", "CommandLine", "DesktopIntegration", "Ingest", "MediaTypes", "OutputLife",
                "Pushing", "ScreenRelayKit", "Signalling", "TestSupport", "Threading",
            ], exclude: ["States"]),
        tests(
            "DesktopIntegrationTests",
            ["CXCB", "Clocks", "DesktopIntegration", "MediaTypes", "Processes", "TestSupport", "Threading"]),
        tests(
            "ViewingTests",
            ["Viewing", "RoomConnections", "Ingest", "Threading", "H264", "Opus", "MediaTypes", "TestSupport"]),
        tests(
            "ScreenRelayClientTests",
            [
                "ScreenRelayClient", "RoomConnections", "ScreenRelayKit", "Signalling", "Threading", "TrackHub",
                "Processes", "H264", "MediaTypes", "TestSupport", "mirror",
            ]),
        tests(
            "DiagnosisTests",
            ["Diagnosis", "MediaTypes", "STUN", "ScreenRelayKit", "SecureTransport", "Signalling", "TestSupport"],
            exclude: ["turn_server.py"]),
        tests(
            "ScreenRelayKitTests",
            [
                "ScreenRelayKit", "Ingest", "Threading", "TrackHub", "SecureTransport", "Signalling", "STUN",
                "BrowserDriver", "CaptureLink", "LinkTransport", "Recording", "RecordingFiles", "MediaSessions",
                "Processes",
                "WebRTC", "TrackEncoding", "X264Encoding", "VideoDecoding", "AudioCoding", "Opus", "H264",
                "MediaTypes", "TestSupport",
            ]),
        tests(
            "EndToEndTests",
            [
                "BrowserDriver", "PageStories", "Processes", "TestScene", "CaptureLink", "LinkTransport", "Recording",
                "RecordingFiles",
                "ByteCoding", "H264",
                "X264Encoding",
                "VideoDecoding", "MediaTypes", "CConfinement", "CLinux", "TestSupport", "ScreenRelayKit", "Ingest",
                "Joining", "OutputLife",
                "Pushing", "RTSPServing", "Signalling", "Threading",
            ], exclude: ["Clients", "README.md"]),
    ]
)
